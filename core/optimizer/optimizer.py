"""The base of optimizers, which have the update rules of a link's parameters, and make steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Self

from core.errors import UpdateError, nearest
from core.errors.keywords import answering
from core.errors.kinds import checked
from core.errors.known_attributes import KnownAttributes, names_attribute
from core.errors.place import warn
from core.link import Link
from core.link.parameter import Parameter
from core.link.serializer import Deserializer
from core.optimizer.loss_scaling import LossScaling
from core.optimizer.update_hooks import Hook, HookTable

_REMOVED = {
    "zero_grads": "Call target.cleargrads().",
    "clip_grads": "Add the hook GradientClipping(threshold).",
    "compute_grads_norm": "Add the hook GradientClipping(threshold) to limit the norm.",
    "weight_decay": "Add the hook WeightDecay(rate).",
    "accumulate_grads": "Call target.addgrads(link).",
}


@answering("call_hook", "call_hooks", "working")
class Optimizer(LossScaling, KnownAttributes):
    """Base of optimizers: counts steps (`t`) and epochs, has hooks and a loss scale.

    `setup(link)` comes first and gives the optimizer back; then `update` makes a step.
    """

    target: Any = None
    """The link that `setup` was given; None before."""
    t: int = 0
    epoch: int = 0
    use_auto_new_epoch: bool = False
    _hooks: HookTable
    _loaded_record: str | None = None  # what the file says of the rules

    def setup(self, link: Link) -> Self:
        """Set `link` as the target, with step 0 and no hooks; returns itself.

        Warns of a link without parameters, and of links and parameters that are held by attributes
        (in lists, tuples and dicts too) without being registered. Those that are frozen by
        `disable_update()`, or that another optimizer trains already, it passes over.
        """
        from core.link.unregistered import warning_of

        if not isinstance(link, Link):
            raise TypeError(
                f"{type(self).__name__}.setup: expected a link, got {type(link).__name__}. Give "
                "the model itself: its parameters are found in it, those that are frozen left out."
            )
        text = warning_of(f"{type(self).__name__}.setup", link)
        if text:
            warn(text)
        self.target = link
        self.t = self.epoch = 0
        self._loaded_record = None
        self._hooks = HookTable(type(self).__name__)
        return self

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Change the parameters of the target once."""
        raise NotImplementedError(f"{type(self).__name__} does not define update().")

    def _target(self) -> Link:
        link: Link | None = self.target
        if link is None:
            raise UpdateError(
                f"{type(self).__name__}: nothing to train yet. Call setup(link) first."
            )
        return link

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
        that takes part in the step, any other as `hook(optimizer)`, which finds these parameters by
        `working()`. One that has a method `added` gets the optimizer first; what it has in
        `serialize` is saved and loaded. Where processes have the state of some parameters each, a
        hook of the optimizer before steps has to say, by `works_on_parts = True`, that it takes
        what it needs of the others by `everywhere`.
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
            with parameter.backend.beside(parameter.array):
                hook(rule, parameter)

    def working(self) -> Iterator[tuple[Any, Parameter]]:
        """The rules and parameters of the step, for hooks: those that have a gradient."""
        for parameter in self._target().params(include_uninit=False):
            if parameter.grad is not None:
                yield parameter.update_rule, parameter

    def everywhere(self, numbers: Iterable[Any]) -> list[Any]:
        """Numbers about the parameters of a step, of all processes that divide them.

        For hooks that look at all parameters together, in which each process gives those of
        `working()`: `math.fsum(optimizer.everywhere(...))` is then the same for all, and does not
        depend on how they are divided. Arrays without axes count as numbers. In a process alone
        they are given back as they are, so that nobody waits for the device that they are on.
        """
        return list(numbers)

    # ------------------------------------------------------------------ saving

    def serialize(self, serializer: Any) -> None:
        """Save or load the counts, a dynamic loss scale, and the state of all rules and hooks.

        Files say which rules the state is of, under `update_rules`: state of others is refused.
        Hyper-parameters, hooks, and what is frozen, stay those of the script; `changed_since_saved`
        tells what differs.
        """
        from core.optimizer.update_record import record

        rules = self._rules_by_path()
        serializer.statement(
            "update_rules", record(rules, self._hooks), partial(self._misfit, rules)
        )
        t, epoch = serializer("t", self.t), serializer("epoch", self.epoch)
        self._serialize_scale(serializer)
        if isinstance(serializer, Deserializer):
            self.t, self.epoch = int(t), int(epoch)
        for path, rule in rules.items():
            part = serializer[path]
            self._serialize_rule(path, rule, part)
            if rule.state is not None and part.lacks("t"):
                rule.t = self.t  # files of Chainer 3 have this one for all rules
        tables = [(self._hooks, serializer)]
        tables += [(rule._hooks, serializer[path]) for path, rule in rules.items()]
        known = set[int]()  # that of a group is in the tables of several rules
        for table, part in tables:
            for name, hook in table.stateful():
                if id(hook) not in known:
                    known.add(id(hook))
                    hook.serialize(part.optional("hooks")[name])

    def _rules_by_path(self) -> dict[str, Any]:
        return {
            path: parameter.update_rule
            for path, parameter in self._target().namedparams()
            if parameter.update_rule is not None
        }

    def _misfit(self, rules: dict[str, Any], text: str) -> str:
        from core.optimizer.update_record import misfit

        self._loaded_record = text
        return misfit(rules, text)

    def changed_since_saved(self) -> list[str]:
        """What is not as in the file which was loaded: hyper-parameters, hooks, and what is frozen.

        Each is a text, as 'lr=0.5 (0.25 in the file)'.
        """
        from core.optimizer.update_record import changes

        text = self._loaded_record
        return [] if text is None else changes(self._rules_by_path(), self._hooks, text)

    def _serialize_rule(self, path: str, rule: Any, serializer: Any) -> None:
        """Save or load the state of the rule of one parameter."""
        rule.serialize(serializer)
