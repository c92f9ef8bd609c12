"""Parameters, chosen by their paths, with separate hyper-parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from core.errors import UnknownName, UpdateError, nearest
from core.optimizer.declared_by_rule import DeclaredByRule
from core.optimizer.hyperparameter import Hyperparameter
from core.optimizer.update_hooks import Hook
from core.optimizer.update_rule import UpdateRule


class ParameterGroup:
    """The parameters whose paths match one of some patterns, with separate hyper-parameters.

    `GradientMethod.group` makes it. Its hyper-parameters are attributes: those that have been set
    on the group, and for the rest the optimizer's. What is set here is set on the rule of each
    parameter, where the optimizer's value no longer counts; of several groups of a parameter the
    one that was set last does. A schedule takes the group as its `optimizer`.

    >>> import core, core.links as L
    >>> model = core.Sequential(L.Linear(3, 4), L.Linear(4, 2))
    >>> optimizer = core.optimizers.MomentumSGD(lr=0.1).setup(model)
    >>> last = optimizer.group("/1/*", lr=0.01)
    >>> last, last.paths, last.momentum
    (ParameterGroup('/1/*', lr=0.01), ('/1/W', '/1/b'), 0.9)
    >>> model[1].b.update_rule, model[0].b.update_rule
    (MomentumSGDRule(lr=0.01, momentum=0.9), MomentumSGDRule(lr=0.1, momentum=0.9))
    """

    def __init__(self, owner: DeclaredByRule, patterns: Iterable[str]) -> None:
        self._owner = owner
        self._patterns = tuple(patterns)
        self._rules = dict(_matching(owner, self._patterns))
        self._hyperparam = Hyperparameter(owner.hyperparam)
        self._ended = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the parameters."""
        return tuple(self._rules)

    @property
    def hyperparam(self) -> Hyperparameter:
        """The hyper-parameters of the group; those that it does not set are the optimizer's."""
        return self._hyperparam

    def set(self, **hyperparameters: Any) -> None:
        """Set hyper-parameters of all parameters of the group; of none, if one is refused.

        Raises UpdateError where the optimizer has been set up again since.
        """
        self._refuse_ended()
        trial = Hyperparameter(self._owner.hyperparam)
        for name, value in hyperparameters.items():
            try:
                trial.assign(self._named(), name, value)
            except UnknownName as error:
                raise UnknownName(f"{self._named()}: {error}") from None
        for name in hyperparameters:
            for hyperparam in (self._hyperparam, *(r.hyperparam for r in self._rules.values())):
                setattr(hyperparam, name, getattr(trial, name))

    def add_hook(self, hook: Hook, name: str | None = None, timing: str = "auto") -> None:
        """Add a hook to the rule of each parameter, as `UpdateRule.add_hook` does.

        A hook of the optimizer that can do with some of the parameters, as `GradientClipping`, is
        told so by its method `for_group`, and looks at those of the group together.
        """
        self._refuse_ended()
        if hasattr(hook, "for_group"):
            known = str(name or getattr(hook, "name", type(hook).__name__))
            hook.for_group(self)
            try:
                self._owner.add_hook(hook, self._joint(known), timing)
            except BaseException:
                hook.for_group(None)
                raise
            return
        for rule in self._rules.values():
            rule.add_hook(hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Remove the hook called `name` from the group."""
        if self._joint(name) in self._owner._hooks:
            self._owner._hooks.remove(self._joint(name)).for_group(None)
            return
        for rule in self._rules.values():
            rule.remove_hook(name)

    def end(self) -> None:
        """Let go of the rules, in whose places the optimizer's setup puts others."""
        self._ended = True

    def _refuse_ended(self) -> None:
        if self._ended:
            raise UpdateError(
                f"{self._named()}: setup() has been called since, which gives all parameters new "
                "rules, without groups. Make the group again after it."
            )

    def __contains__(self, rule: UpdateRule) -> bool:
        """Whether it is the rule of one of the parameters."""
        return any([rule is own for own in self._rules.values()])

    def _joint(self, name: str) -> str:
        return f"{name} of {', '.join(self._patterns)}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        return getattr(self._hyperparam, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self.set(**{name: value})

    def _named(self) -> str:
        patterns = ", ".join(map(repr, self._patterns))
        return f"{type(self._owner).__name__}.group({patterns})"

    def __repr__(self) -> str:
        own = {k: v for k, v in vars(self._hyperparam).items() if not k.startswith("_")}
        values = [f"{name}={value!r}" for name, value in own.items()]
        return f"ParameterGroup({', '.join([*map(repr, self._patterns), *values])})"


def _matching(owner: DeclaredByRule, patterns: tuple[str, ...]) -> Iterator[tuple[str, UpdateRule]]:
    """Path and rule of each parameter that one of the patterns matches; all have to match some."""
    from fnmatch import fnmatchcase

    rules = {
        path: parameter.update_rule
        for path, parameter in owner._target().namedparams()
        if parameter.update_rule is not None
    }
    who = f"{type(owner).__name__}.group"
    if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
        raise TypeError(
            f"{who}: expected patterns of the paths of parameters, such as '*/b', got "
            f"{', '.join(map(repr, patterns)) or 'none'}."
        )
    for pattern in patterns:
        if not any(fnmatchcase(path, pattern) for path in rules):
            raise ValueError(
                f"{who}: no parameter has a path that {pattern!r} matches; there are "
                f"{', '.join(rules) or 'none'}.{nearest(pattern, rules)}"
            )
    for path, rule in rules.items():
        if any(fnmatchcase(path, pattern) for pattern in patterns):
            yield path, rule
