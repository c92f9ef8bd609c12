"""Optimizers with a rule for each parameter: what they set up, and how they make a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import Any, ClassVar, Self

from core.errors import UpdateError
from core.errors.keywords import answering
from core.errors.kinds import checked
from core.errors.place import warn
from core.graph.variable import Variable
from core.link import Link
from core.link.parameter import Parameter
from core.optimizer import together
from core.optimizer.accumulating import Accumulating
from core.optimizer.declared_by_rule import DeclaredByRule
from core.optimizer.parameter_group import ParameterGroup
from core.optimizer.prepared import PreparedStep
from core.optimizer.step import Step
from core.optimizer.uncleared import Used
from core.optimizer.update_record import few
from core.optimizer.update_rule import UpdateRule


@answering("before_step", "working")
class GradientMethod(DeclaredByRule, Accumulating):
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

    _recorder: ClassVar[Callable[[], Any] | None] = None
    """What gives what `core.capture` is told of a step by; see `_recording`."""

    _of_gradients: ClassVar[tuple[str, ...]] = ("_parts",)
    """Counts that are kept while gradients are accumulated, for `update()`."""

    _use_fp32_update: bool = False
    _groups: tuple[ParameterGroup, ...] = ()
    _newcomers: frozenset[str] = frozenset()  # the paths of those that have been told of
    _told_of_another: bool = False
    _told_of_nothing: bool = False
    _used: Used | None = None
    _under_way: Sequence[Step] = ()
    _prepared: PreparedStep | None = None

    def setup(self, link: Link) -> Self:
        """Set `link` as the target, and give each of its parameters an update rule."""
        super().setup(link)
        for group in self._groups:
            group.end()
        self._groups, self._parts = (), 0
        self._newcomers = frozenset()
        self._told_of_another = self._told_of_nothing = False
        self._prepared = self._used = None
        for parameter in link.params():
            parameter.update_rule = self.create_update_rule()
            parameter.update_rule.by_setup = True
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
        group = ParameterGroup(self, patterns)
        group.set(**hyperparameters)
        self._groups = (*self._groups, group)
        return group

    @property
    def groups(self) -> tuple[ParameterGroup, ...]:
        """The groups of parameters that have been made since setup."""
        return self._groups

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
        frozen or without a gradient is left alone; where none has one, and where gradients of the
        first step are added to for the second, a warning says so.

        Raises:
            UpdateError: There is no target, the loss is not a scalar, or a gradient or state does
                not fit its parameter; no parameter has been changed then.
        """
        target = self._target()
        if lossfun is not None:
            self._differentiate(lossfun, *args, **kwds)
        has_loss, self._parts = lossfun is not None or self._parts > 0, 0
        record = self._recording()
        if record is not None:
            record(self)
            return
        if self._used is not None:
            self._tell_of_uncleared(target)
        if self._prepared is not None:
            if self._prepared.made(self):
                return
            self._prepared = None  # it holds arrays that may be others' by now
        steps = self._steps_of(target)
        if not steps and not self._told_of_nothing:
            self._tell_of_nothing(target, has_loss)
        if not self.is_safe_to_update():
            self.t += 1  # the step is counted here; rules count those that they make
            self.update_loss_scale(overflow=True)
            return
        self._make(steps)
        self.call_hooks("post")
        self.update_loss_scale()
        if self.t == 1 and not has_loss:
            self._used = Used.of([step.parameter for step in steps])
        self._prepared = PreparedStep.of(self, _METHODS)

    @staticmethod
    def _recording() -> Any:
        """What records a step, which is made when it is replayed; None where none is captured.

        Called with the optimizer it records the update, and by its `scaled` a loss scale.
        """
        return None if GradientMethod._recorder is None else GradientMethod._recorder()

    def _scale_of(self, loss: Variable, share: float | None) -> Any:
        record = self._recording()
        if record is None:
            return super()._scale_of(loss, share)
        return record.scaled(self, loss, share)

    def _differentiate(self, lossfun: Callable[..., Any], *args: Any, **kwds: Any) -> None:
        """Compute the loss of the step, and its gradients."""
        self._refuse_uncallable("update", lossfun)
        if self._parts:
            raise UpdateError(
                f"{type(self).__name__}.update: gradients of {self._parts} parts have been "
                "accumulated, which a loss would replace. Accumulate that part as well, and "
                "then call update() without arguments."
            )
        self._backward(self._target(), lossfun(*args, **kwds))

    def _make(self, steps: list[Step], prepared: PreparedStep | None = None) -> None:
        """Make the steps together: all have begun before the first changes its parameter.

        That is so of hooks before the steps as well, which may raise. Those that are `prepared`
        have nothing to begin with.
        """
        self._under_way, t = steps, self.t
        try:
            for step in steps if prepared is None else ():
                step.begin(self._loss_scale)
            for step in steps if self._hooks else ():
                step.let_change()
            self.call_hooks("pre")
            self.before_step(steps)
            self.t += 1  # as hooks of rules see it
            for step in steps:
                step.call_hooks()
        except BaseException:
            self.t = t
            for step in steps:
                step.undo()
            raise
        else:
            if prepared is None or not prepared.moved(self):
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
        if without:
            self._tell_of_newcomers(target, without)
        if not self._told_of_another and any(anothers := [*map(self._is_anothers, steps)]):
            self._tell_of_another(target, [*compress(steps, anothers)], all(anothers))
        return steps

    def _tell_of_nothing(self, target: Link, has_loss: bool) -> None:
        """Warn, once, of a step in which none of the parameters has a gradient."""
        rules = [parameter.update_rule for parameter in target.params(False)]
        if any([rule is not None and rule.enabled for rule in rules]):
            self._told_of_nothing = True
            who, what = f"{type(self).__name__}.update", f"of this {type(target).__name__}"
            warn(
                f"{who}: the loss depends on no parameter {what}, so that nothing was trained. "
                "Compute it by this model, and from Variables: what is computed from x.array knows "
                "no way back."
                if has_loss
                else f"{who}: no parameter {what} has a gradient, so that nothing was trained. "
                "Call loss.backward() first, after cleargrads() and not before it; or give update "
                "the function that computes the loss."
            )

    def _tell_of_uncleared(self, target: Link) -> None:
        """Warn where the second step has the gradients of the first among its own."""
        used, self._used = self._used, None
        if used is not None and used.is_added_to():
            warn(
                f"{type(self).__name__}.update: the gradients are those of the last step as well, "
                "since backward() adds to what is there. Call cleargrads() of this "
                f"{type(target).__name__} before each backward(); or give update the function that "
                "computes the loss, which clears them. To sum parts of a batch there is "
                "accumulate(). Zeros that the program itself writes into them look the same."
            )

    def _is_anothers(self, step: Step) -> bool:
        """Whether the rule is one that the setup of another optimizer has given."""
        makes_rules_by_itself = type(self).create_update_rule is GradientMethod.create_update_rule
        rule, numbers = step.rule, step.rule.hyperparam.parent
        of_an_optimizer = rule.by_setup and numbers is not None  # version 1's rules follow none
        return makes_rules_by_itself and of_an_optimizer and numbers is not self.hyperparam

    def _tell_of_another(self, target: Link, steps: list[Step], are_all: bool) -> None:
        """Warn, once, where the setup of another optimizer has replaced rules of this one."""
        self._told_of_another = True
        names = {id(parameter): path for path, parameter in target.namedparams()}
        paths = few([names[id(step.parameter)] for step in steps])
        warn(
            f"{type(self).__name__}.update: another optimizer has been set up for "
            f"{'the parameters' if are_all else paths} of this {type(target).__name__} since, "
            "whose rules and rates count in this step. "
            + (
                "Call update() of that one, or setup(link) of this one again."
                if are_all
                else "A parameter has one rule: let each be trained by one optimizer, and give "
                "parts rates of their own by group(pattern, ...), or set the other one up for "
                "link.copy(), which has the same arrays."
            )
        )

    def _tell_of_newcomers(self, target: Link, without: list[Parameter]) -> None:
        """Warn, once, of parameters that have come after setup, and so have no rule."""
        new = {id(parameter) for parameter in without if parameter.grad is not None}
        paths = [path for path, parameter in target.namedparams() if id(parameter) in new]
        if not self._newcomers.issuperset(paths):
            self._newcomers |= frozenset(paths)
            warn(
                f"{type(self).__name__}.update: {', '.join(paths)} cannot be trained, because what "
                "is added to the target after setup() has no update rule. Call setup(link) again, "
                "which resets the optimizer's state, hooks and groups, or call it after all links "
                "are added. Freeze what is not to be trained with disable_update()."
            )

    def before_step(self, steps: list[Step]) -> None:
        """Do what concerns all parameters together, after hooks and before their rules.

        Each of the `steps` has the `parameter`, its `rule`, and the `work` that the rule gets: the
        parameter, or its float32 master, with the true gradient.
        """

    def working(self) -> Iterator[tuple[Any, Parameter]]:
        """The rules and what they work on in the step under way: parameters or float32 masters."""
        if self._under_way:
            yield from [(step.rule, step.work) for step in self._under_way if step.due]
            return
        for rule, parameter in super().working():
            if rule is not None and rule.enabled:
                yield rule, parameter


_METHODS = {
    name: getattr(GradientMethod, name)
    for name in (
        "update", "_make", "_steps_of", "before_step", "call_hooks", "call_hook", "working",
        "is_safe_to_update", "update_loss_scale",
    )
}  # fmt: skip
"""What a prepared step takes the place of: where others stand there, none is prepared."""
