"""Optimizers: they have the update rules of a link's parameters, and make steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from core.arrays import backend as backends
from core.errors import DeclarationError, UpdateError, nearest
from core.errors.kinds import checked
from core.errors.known_attributes import KnownAttributes, names_attribute
from core.errors.scalars import as_number
from core.errors.set_by_init import set_by_init
from core.graph.variable import Variable
from core.link import Link
from core.link.parameter import Parameter
from core.link.serializer import Deserializer
from core.optimizer import together
from core.optimizer.hyperparameter import Hyperparameter, HyperparameterProxy
from core.optimizer.step import Step
from core.optimizer.update_hooks import Hook, HookTable
from core.optimizer.update_rule import UpdateRule
from core.registry.configuration import config

if TYPE_CHECKING:
    import inspect

    from core.optimizer.parameter_group import ParameterGroup

_REMOVED = {
    "zero_grads": "Call target.cleargrads().",
    "clip_grads": "Add the hook GradientClipping(threshold).",
    "compute_grads_norm": "Add the hook GradientClipping(threshold) to limit the norm.",
    "weight_decay": "Add the hook WeightDecay(rate).",
    "accumulate_grads": "Call target.addgrads(link).",
}
_LARGEST_SCALE = 2.0**15  # the largest power of two that float16 holds


class Optimizer(KnownAttributes):
    """Base of optimizers: counts steps (`t`) and epochs, has hooks and a loss scale.

    `setup(link)` comes first and gives the optimizer back; then `update` makes a step.
    """

    target: Link | None = None
    t: int = 0
    epoch: int = 0
    use_auto_new_epoch: bool = False
    _loss_scale: float | None = None
    _scale_interval: int | None = None
    _clean_steps: int = -1  # since the scale last changed; negative until a step has overflowed
    _hooks: HookTable

    def setup(self, link: Link) -> Self:
        """Set `link` as the target, with step 0 and no hooks; returns itself.

        Warns of a link without parameters, and of links and parameters that are held by attributes
        (in lists, tuples and dicts too) without being registered. Those that are frozen by
        `disable_update()`, or that another optimizer trains already, it passes over.
        """
        if not isinstance(link, Link):
            raise TypeError(
                f"{type(self).__name__}.setup: expected a link, got {type(link).__name__}."
            )
        self._warn_of_unregistered(link)
        self.target = link
        self.t = self.epoch = 0
        self._hooks = HookTable(type(self).__name__)
        return self

    def _warn_of_unregistered(self, link: Link) -> None:
        from core.link.unregistered import warning_of

        text = warning_of(f"{type(self).__name__}.setup", link)
        if text:
            warnings.warn(text, stacklevel=4 if isinstance(self, GradientMethod) else 3)

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Change the parameters of the target once."""
        raise NotImplementedError(f"{type(self).__name__} does not define update().")

    def _target(self) -> Link:
        if self.target is None:
            raise UpdateError(
                f"{type(self).__name__}: nothing to train yet. Call setup(link) first."
            )
        return self.target

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        if name in _REMOVED:
            raise AttributeError(f"{type(self).__name__}.{name} no longer exists. {_REMOVED[name]}")
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}."
            + nearest(name, dir(self), "Optimizer")
        )

    def _may_have(self, name: str) -> bool:
        return name in vars(self) or names_attribute(type(self), name, Optimizer)

    def _settable(self) -> Iterable[str]:
        own = vars(self).get("hyperparam")
        return vars(self) if own is None else own.get_dict()

    @checked
    def new_epoch(self, auto: bool = False) -> None:
        """Count an epoch; `auto` means that an updater counts them, and nobody else may."""
        if auto:
            self.use_auto_new_epoch = True
        elif self.use_auto_new_epoch:
            raise UpdateError(
                f"{type(self).__name__}.new_epoch: the updater counts the epochs already. Leave "
                "the call out, or make the updater with auto_new_epoch=False."
            )
        self.epoch += 1

    # ------------------------------------------------------------------ hooks

    def add_hook(self, hook: Hook, name: str | None = None, timing: str = "auto") -> None:
        """Call a hook before (`'pre'`) or after (`'post'`) each step.

        A hook with `call_for_each_param` true is called as `hook(rule, param)` for each parameter
        that takes part in the step, any other as `hook(optimizer)`. One that has a method `added`
        gets the optimizer first; what it has in `serialize` is saved and loaded.
        """
        self._target()
        if hasattr(hook, "added"):
            hook.added(self)
        self._hooks.add(hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Remove the hook called `name`."""
        self._target()
        self._hooks.remove(name)

    def call_hooks(self, timing: str = "pre") -> None:
        """Call the hooks of one timing, in the order they were added."""
        self._target()
        for hook in self._hooks.at(timing):
            self.call_hook(hook)

    def call_hook(self, hook: Hook) -> None:
        """Call one hook."""
        if not getattr(hook, "call_for_each_param", False):
            hook(self)
            return
        for rule, parameter in self.working():
            hook(rule, parameter)

    def working(self) -> Iterator[tuple[Any, Parameter]]:
        """The rules and parameters of the step, for hooks: those that have a gradient."""
        for parameter in self._target().params(include_uninit=False):
            if parameter.grad is not None:
                yield parameter.update_rule, parameter

    # ------------------------------------------------------------------ loss scaling

    def set_loss_scale(self, loss_scale: float | None) -> None:
        """Multiply the loss's gradient by a fixed number, and divide it out before the update.

        It keeps small gradients of 16-bit parameters from becoming zero. A step in which a
        gradient overflows is skipped: it counts in `t`, but no rule, hook or parameter sees it.
        """
        if loss_scale is not None:
            loss_scale = as_number(type(self).__name__, "the loss scale", loss_scale)
            if not loss_scale > 0:
                raise ValueError(f"set_loss_scale: expected a positive number, got {loss_scale!r}.")
        self._loss_scale = loss_scale
        self._scale_interval = None

    @property
    def loss_scale(self) -> float | None:
        """The factor for the loss's gradient in the next step; None for no scaling."""
        return self._loss_scale

    def loss_scaling(self, interval: int = 1000, scale: float | None = None) -> None:
        """Scale the loss by `scale`; by default dynamically.

        The dynamic scale starts at 1 and doubles with every step, up to 32768, until a gradient
        overflows. A step in which one does is skipped and halves the scale; after it `interval`
        steps without an overflow double it.
        """
        if as_number(type(self).__name__, "interval", interval) < 1:
            raise ValueError(f"loss_scaling: expected an interval of at least 1, got {interval}.")
        self.set_loss_scale(1.0 if scale is None else scale)
        self._scale_interval = interval if scale is None else None
        self._clean_steps = -1

    def check_nan_in_grads(self) -> bool:
        """Whether any gradient of the target contains NaN or infinity; waits for the device."""
        grads = [p.grad for p in self._target().params(False) if p.grad is not None]
        spaces = [(backends.of(grad).xp, grad) for grad in grads]
        finite = [xp.all(xp.isfinite(grad)) for xp, grad in spaces]
        return not all(map(bool, finite))

    def is_safe_to_update(self) -> bool:
        """Whether the step can be made: without loss scaling always, otherwise if all is finite."""
        return self._loss_scale is None or not self.check_nan_in_grads()

    def update_loss_scale(self, overflow: bool = False) -> None:
        """Adapt a dynamic loss scale to the result of the step."""
        if self._scale_interval is None or self._loss_scale is None:
            return
        if overflow:
            self._loss_scale, self._clean_steps = max(self._loss_scale / 2, 1.0), 0
            return
        if self._clean_steps >= 0:
            self._clean_steps += 1
        if self._clean_steps in (-1, self._scale_interval):
            self._loss_scale = min(self._loss_scale * 2, _LARGEST_SCALE)
            self._clean_steps = min(self._clean_steps, 0)

    # ------------------------------------------------------------------ saving

    def serialize(self, serializer: Any) -> None:
        """Save or load the counts, a dynamic loss scale, and the state of all rules and hooks.

        Files say which rules the state is of, under `update_rules`: state of others is refused.
        """
        from core.optimizer.update_record import misfit, record

        rules = {
            path: parameter.update_rule
            for path, parameter in self._target().namedparams()
            if parameter.update_rule is not None
        }
        serializer.statement("update_rules", record(rules), partial(misfit, rules))
        t, epoch = serializer("t", self.t), serializer("epoch", self.epoch)
        if self._scale_interval is not None:
            self._loss_scale = float(serializer("loss_scale", self._loss_scale))
            self._clean_steps = int(serializer("clean_steps", self._clean_steps))
        if isinstance(serializer, Deserializer):
            self.t, self.epoch = int(t), int(epoch)
        for path, rule in rules.items():
            part = serializer[path]
            rule.serialize(part)
            if rule.state is not None and part.lacks("t"):
                rule.t = self.t  # files of Chainer 3 have this one for all rules
        for name, hook in self._hooks.stateful():
            hook.serialize(serializer.optional("hooks")[name])


class GradientMethod(Optimizer):
    """An optimizer that updates each parameter by its own gradient, with one rule for each.

    Parameters may have any shape and any floating dtype; the rules of the bundled optimizers work
    element by element. What a rule keeps for a parameter has the parameter's shape, dtype and
    device; with `use_fp32_update` that of a 16-bit parameter is float32, as is the copy of the
    parameter that takes the steps.

    A subclass names the class of its rule; the rule's hyper-parameters become its arguments and
    attributes:

    >>> import core
    >>> class Plain(core.UpdateRule):
    ...     lr: float = 0.01
    ...     def step(self, xp, param, grad):
    ...         param -= self.lr * grad
    >>> class GradientDescent(core.GradientMethod):
    ...     rule = Plain
    >>> GradientDescent(lr=0.5)
    GradientDescent(lr=0.5)

    A variant of another optimizer names the `arguments` that it takes, in their order, and the
    `settings` of other hyper-parameters, as in ``settings = {"momentum": 0.5}``. One whose rule is
    of several classes names the others, whose hyper-parameters it has as well, in `variants`;
    attributes that it is constructed with it names among its settings and arguments.
    One written in the older way sets `self.hyperparam` and overrides `create_update_rule`.
    """

    rule: ClassVar[type[UpdateRule] | None] = None
    arguments: ClassVar[tuple[str, ...] | None] = None
    settings: ClassVar[dict[str, Any]] = {}
    variants: ClassVar[tuple[type[UpdateRule], ...]] = ()  # of `rule`; others have their own
    hyperparam: Hyperparameter = set_by_init()
    _use_cleargrads: bool = True
    _use_fp32_update: bool = False
    _groups: tuple[ParameterGroup, ...] = ()
    _told_of_newcomers: bool = False
    _parts: int = 0  # whose gradients have been accumulated for the coming step
    _under_way: Sequence[Step] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.rule is None:
            return
        if "rule" in vars(cls) and "variants" not in vars(cls):
            cls.variants = ()
        known = cls._declared()
        for name in (*(cls.arguments or ()), *cls.settings):
            if name not in known and not hasattr(cls, name):
                raise DeclarationError(
                    f"{cls.__name__}: its rule has no hyper-parameter {name!r}; there are "
                    f"{', '.join(known)}.{nearest(name, known)}"
                )
        for name in known:
            if not hasattr(cls, name):
                setattr(cls, name, HyperparameterProxy(name))
        if "__init__" in vars(cls):
            import inspect

            own = inspect.signature(cls.__init__)
            shown = own.replace(parameters=list(own.parameters.values())[1:])
        else:
            shown = _signature(cls)
        cls.__signature__ = shown  # type: ignore[attr-defined]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        declared = self._declared()
        ranges = {k: v for rule in self._rules() for k, v in rule.ranges.items()}
        whole = [name for rule in self._rules() for name in rule.whole()]
        parent = Hyperparameter(None, ranges, whole).define(**declared) if declared else None
        self.hyperparam = Hyperparameter(parent)
        if args and (isinstance(args[0], (Link, list, tuple)) or hasattr(args[0], "__next__")):
            raise TypeError(
                f"{type(self).__name__}: expected hyperparameters, got {type(args[0]).__name__}. "
                f"What to train is given afterwards: {type(self).__name__}(...).setup(model)."
            )
        try:
            given = _signature(type(self)).bind(*args, **kwargs)
        except TypeError as error:
            known = list(_signature(type(self)).parameters)
            hints = (nearest(n, known, "hyperparameters") for n in kwargs if n not in known)
            raise TypeError(
                f"{type(self).__name__}: {error}.{next(hints, '')} It takes "
                f"{', '.join(known) or 'no arguments'}."
            ) from None
        for name, value in (declared | self.settings | given.arguments).items():
            if name in declared:
                self.hyperparam.assign(type(self).__name__, name, value)
            else:
                setattr(self, name, value)

    @classmethod
    def _rules(cls) -> tuple[type[UpdateRule], ...]:
        return () if cls.rule is None else (cls.rule, *cls.variants)

    @classmethod
    def _declared(cls) -> dict[str, Any]:
        """The hyper-parameters of its rules, with their defaults."""
        return {k: v for rule in cls._rules() for k, v in rule.hyperparameters.items()}

    def setup(self, link: Link) -> Self:
        """Set `link` as the target, and give each of its parameters an update rule."""
        super().setup(link)
        self._groups, self._parts, self._told_of_newcomers = (), 0, False
        for parameter in link.params():
            parameter.update_rule = self.create_update_rule()
            parameter.update_rule.enabled = not parameter.frozen
            if self._use_fp32_update:
                parameter.update_rule.use_fp32_update()
        return self

    def create_update_rule(self) -> UpdateRule:
        """Make a rule for one parameter, which shares this optimizer's hyper-parameters."""
        if self.rule is None:
            raise NotImplementedError(
                f"{type(self).__name__} names no update rule. Set the class attribute `rule`, or "
                "override create_update_rule()."
            )
        return self.rule(self.hyperparam)

    def group(self, *patterns: str, **hyperparameters: Any) -> ParameterGroup:
        """Give separate hyper-parameters to the parameters whose paths match a pattern.

        Patterns are those of file names, where `*` stands for anything, slashes included: `"*/b"`
        are all biases, `"/encoder/*"` is a whole child. Call it after `setup`, in each run, a
        resumed one included. A change of the optimizer's hyper-parameter then passes these by; of
        several groups of a parameter the later counts. The result can be changed, scheduled and
        hooked by itself.

        Raises:
            ValueError: A pattern matches no path.
            UnknownName: The rule has no such hyper-parameter.

        >>> import core, core.links as L
        >>> optimizer = core.optimizers.AdamW(weight_decay_rate=1e-4).setup(L.Linear(3, 2))
        >>> optimizer.group("*/b", weight_decay_rate=0)
        ParameterGroup('*/b', weight_decay_rate=0)
        """
        from core.optimizer.parameter_group import ParameterGroup

        group = ParameterGroup(self, patterns)
        group.set(**hyperparameters)
        self._groups = (*self._groups, group)
        return group

    @property
    def groups(self) -> tuple[ParameterGroup, ...]:
        """The groups of parameters that have been made since setup."""
        return self._groups

    @checked
    def use_cleargrads(self, use: bool = True) -> None:
        """Clear gradients to None before backward (the default), or fill them with zeros."""
        self._use_cleargrads = use

    @checked
    def use_fp32_update(self, flag: bool = True) -> None:
        """Update 16-bit parameters through float32 masters; see `UpdateRule.use_fp32_update`."""
        self._use_fp32_update = flag
        if self.target is not None:
            for parameter in self.target.params():
                if parameter.update_rule is not None:
                    parameter.update_rule.use_fp32_update(flag)

    def reallocate_cleared_grads(self) -> None:
        """Set the gradients of parameters that have none to zeros."""
        for parameter in self._target().params(include_uninit=False):
            if parameter.grad is None:
                parameter.zerograd()

    # ------------------------------------------------------------------ the step

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Make one step.

        With `lossfun` the step computes the loss `lossfun(*args, **kwds)` and its gradients first;
        the graph of that loss belongs to the step, and is freed as backward walks over it. Without
        it the gradients that the parameters have are used. A parameter that is uninitialized,
        frozen or without a gradient is left alone.

        Raises:
            UpdateError: There is no target, the loss is not a scalar, or a gradient does not fit
                its parameter; no parameter has been changed then.
        """
        target = self._target()
        if lossfun is not None:
            self._refuse_uncallable("update", lossfun)
            if self._parts:
                raise UpdateError(
                    f"{type(self).__name__}.update: gradients of {self._parts} parts have been "
                    "accumulated, which a loss would replace. Accumulate that part as well, and "
                    "then call update() without arguments."
                )
            self._backward(target, lossfun(*args, **kwds))
        self._parts = 0
        steps = self._steps_of(target)
        if not self.is_safe_to_update():
            self.t += 1  # the step is counted here; rules count those that they make
            self.update_loss_scale(overflow=True)
            return
        self._make(steps)
        self.call_hooks("post")
        self.update_loss_scale()

    def _make(self, steps: list[Step]) -> None:
        """Make the steps together: all have begun before the first changes its parameter."""
        self._under_way = steps
        try:
            for step in steps:
                step.begin(self._loss_scale)
            self.call_hooks("pre")
            self.before_step(steps)
        except BaseException:
            for step in steps:
                step.undo()
            raise
        else:
            self.t += 1
            together.make(steps)
        finally:
            self._under_way = ()

    def _steps_of(self, target: Link) -> list[Step]:
        """The steps of the parameters that have a gradient to be moved by."""
        steps, without = [], []
        for parameter in target.params(False):
            rule = parameter.update_rule
            if rule is None:
                without.append(parameter)
            elif (step := Step.of(parameter, rule)) is not None:
                steps.append(step)
        if without and not self._told_of_newcomers:
            self._tell_of_newcomers(target, without)
        return steps

    def _tell_of_newcomers(self, target: Link, without: list[Parameter]) -> None:
        """Warn, once, of parameters that have come after setup, and so have no rule."""
        new = {id(parameter) for parameter in without if parameter.grad is not None}
        paths = [path for path, parameter in target.namedparams() if id(parameter) in new]
        if paths:
            self._told_of_newcomers = True
            warnings.warn(
                f"{type(self).__name__}.update: {', '.join(paths)} cannot be trained, because what "
                "is added to the target after setup() has no update rule. Call setup(link) again, "
                "which resets the optimizer's state, or call it after all links are added. Freeze "
                "what is not to be trained with disable_update().",
                stacklevel=4,
            )

    def before_step(self, steps: list[Step]) -> None:
        """Do what concerns all parameters together, after hooks and before their rules.

        Each of the `steps` has the `parameter`, its `rule`, and the `work` that the rule gets: the
        parameter, or its float32 master, with the true gradient.
        """

    def accumulate(
        self, share: float, lossfun: Callable[..., Any], *args: Any, **kwds: Any
    ) -> None:
        """Add the gradients of a part of a batch to those of the next step.

        The first part after a step clears the gradients. After the last one `update()` without
        arguments makes the step, as it would with the whole batch: the loss, if it is a mean over
        its examples, is `share` times that of the part, summed over parts whose shares sum to 1.
        What is saved in between holds the gradients so far.

        >>> import core, core.functions as F, core.links as L, numpy as np
        >>> optimizer = core.optimizers.SGD(lr=1.0).setup(L.Linear(1, 1, initialW=0.0))
        >>> for x in ([[1.0]], [[2.0]], [[6.0]]):
        ...     optimizer.accumulate(1 / 3, lambda x: F.mean(optimizer.target(x)), np.array(x, "f"))
        >>> optimizer.update()
        >>> optimizer.target.W.array
        array([[-3.]], dtype=float32)

        Raises:
            UpdateError: There is no target, or the loss is not a scalar Variable.
            ValueError: The share is not positive.
        """
        target = self._target()
        self._refuse_uncallable("accumulate", lossfun)
        share = as_number(type(self).__name__, "the share", share)
        if not share > 0:
            raise ValueError(
                f"{type(self).__name__}.accumulate: expected a positive share, got {share!r}."
            )
        self._backward(target, lossfun(*args, **kwds), share)
        self._parts += 1

    def drop_accumulated(self) -> None:
        """Discard the gradients that were accumulated since the last step."""
        if self._parts:
            self._target().cleargrads()
            self._parts = 0

    def _refuse_uncallable(self, what: str, lossfun: Any) -> None:
        if not callable(lossfun):
            raise UpdateError(
                f"{type(self).__name__}.{what}: expected a function that computes the loss, got "
                f"{type(lossfun).__name__}. Give the function and its arguments; or clear the "
                "gradients, call loss.backward(), and then update() without arguments."
            )

    def _backward(self, target: Link, loss: Any, share: float | None = None) -> None:
        if not isinstance(loss, Variable):
            raise UpdateError(
                f"{type(self).__name__}.{'update' if share is None else 'accumulate'}: expected "
                f"the loss function to return a Variable, got {type(loss).__name__}."
            )
        if self._parts == 0:
            if self._use_cleargrads:
                target.cleargrads()
            else:
                target.zerograds()
        for link in target.links():
            link.release_graph()
        # Whoever keeps the graphs of reported variables, as dump_graph does, looks at this one.
        keep = config.keep_graph_on_report
        scaled = self._loss_scale is not None  # then an overflow is found, and the step skipped
        with loss.backend.overflowing() if scaled else nullcontext():
            scale = self._loss_scale if share is None else share * (self._loss_scale or 1.0)
            loss.backward(loss_scale=scale, free_graph=not keep)

    def serialize(self, serializer: Any) -> None:
        """Save or load what every optimizer does, and gradients accumulated for the next step."""
        super().serialize(serializer)
        loading, part = isinstance(serializer, Deserializer), serializer.optional("accumulated")
        if loading:
            self._parts = int(part.optional_value("parts", 0))
        elif self._parts:
            part.optional_value("parts", self._parts)
        if not self._parts:
            return
        for path, parameter in self._target().namedparams(include_uninit=False):
            grad = part.optional_value(path, None if loading else parameter.grad)
            if loading:
                parameter.grad = None if grad is None else parameter.device.send(grad)

    def working(self) -> Iterator[tuple[Any, Parameter]]:
        """The rules and what they work on in the step under way: parameters or float32 masters."""
        if self._under_way:
            yield from [(step.rule, step.work) for step in self._under_way if step.due]
            return
        for rule, parameter in super().working():
            if rule is not None and rule.enabled:
                yield rule, parameter

    def __repr__(self) -> str:
        numbers = self.hyperparam.get_dict()
        own = {name: getattr(self, name) for name in self.settings if name not in numbers}
        values = ", ".join(f"{k}={v!r}" for k, v in (numbers | own).items())
        return f"{type(self).__name__}({values})"


def _signature(method: type[GradientMethod]) -> inspect.Signature:
    """Arguments of an optimizer: the hyper-parameters of its rule, with their defaults."""
    import inspect

    declared = method._declared()
    names = declared if method.arguments is None else method.arguments
    defaults = declared | method.settings
    from core.registry.signatures import annotation

    made = inspect.Parameter
    classes = [base for each in (*method._rules(), method) for base in each.__mro__[:-1]]
    return inspect.Signature(
        [
            made(
                name,
                made.POSITIONAL_OR_KEYWORD,
                default=defaults[name],
                annotation=annotation(classes, name),
            )
            for name in names
        ]
    )
