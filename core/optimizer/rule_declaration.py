"""Reading a declared update rule: what its class says, worked out once, when it is created."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from core.errors import DeclarationError, nearest
from core.errors.arguments import signature_of
from core.errors.interval import Interval
from core.errors.kinds import annotations_of
from core.optimizer.hyperparameter import HyperparameterProxy

if TYPE_CHECKING:
    from core.optimizer.update_rule import UpdateRule

_PARTS = ("enabled", "hyperparam", "parent", "t")
_UPDATES = ("update_core", "update_core_cpu", "update_core_gpu")


def declare(cls: type[UpdateRule], base: type[UpdateRule]) -> None:
    """Read the class, and give it what `base`, which all rules derive from, looks at."""
    _take_state_names(cls)
    for name, kind in annotations_of(cls).items():
        declares = name in vars(cls) and "ClassVar" not in str(kind)
        if declares and (name in _PARTS or hasattr(base, name)):
            raise DeclarationError(
                f"{cls.__name__}: {name!r} is a part of every update rule and cannot be a "
                "hyper-parameter. Take another name."
            )
    if "update" in vars(cls):
        raise DeclarationError(
            f"{cls.__name__}: an optimizer makes the steps of its rules itself, and would not "
            "call update(). Override update_core()."
        )
    cls.follows_step = all([getattr(cls, part) is vars(base)[part] for part in _UPDATES])
    cls.hyperparameters = {**cls.hyperparameters, **_take_declared(cls, cls.hyperparameters)}
    _take_ranges(cls)
    if cls.step is not base.step:
        _check_step(cls)


def _take_state_names(cls: type[UpdateRule]) -> None:
    """What new states are filled with: 0, unless the names are a mapping to other numbers."""
    names = vars(cls).get("state_names")
    if isinstance(vars(cls).get("state"), (tuple, dict)):  # as it was called at first
        names = vars(cls)["state"]
        delattr(cls, "state")
    if isinstance(names, str):
        raise DeclarationError(
            f"{cls.__name__}: expected state_names = ({names!r},), a tuple of names, got a string."
        )
    if names is not None:
        cls._fills = dict(names) if isinstance(names, dict) else dict.fromkeys(names, 0.0)
        cls.state_names = tuple(names)


def _take_declared(cls: type, known: Iterable[str] = ()) -> dict[str, Any]:
    """The hyper-parameters that the body of a class declares, replaced by proxies to their values.

    A field declares one if it is annotated, has a value, no leading underscore and is not a
    ClassVar; a plain value under a name `known` from a base class is a new default for it.
    """
    annotations = annotations_of(cls)
    found = {
        name: value
        for name, value in vars(cls).items()
        if not name.startswith("_")
        and not hasattr(value, "__get__")
        and (name in known or "ClassVar" not in str(annotations.get(name, "ClassVar")))
    }
    for name in found:
        setattr(cls, name, HyperparameterProxy(name))
    return found


def _take_ranges(cls: type[UpdateRule]) -> None:
    """Turn the texts in a class body's `ranges` into intervals, beside those of its bases."""
    known = cls.hyperparameters
    own = {name: Interval(text) for name, text in vars(cls).get("ranges", {}).items()}
    cls.ranges = {}
    for base in reversed(cls.__mro__[1:]):
        cls.ranges |= getattr(base, "ranges", {})
    cls.ranges |= own
    for name, within in cls.ranges.items():
        if name not in known:
            raise DeclarationError(
                f"{cls.__name__}.ranges: there is no hyper-parameter {name!r}; there are "
                f"{', '.join(known) or 'none'}.{nearest(name, known)}"
            )
        if known[name] not in within:
            raise DeclarationError(
                f"{cls.__name__}.{name}: the default {known[name]!r} is not in {within}."
            )


def _check_step(cls: type[UpdateRule]) -> None:
    """Refuse a step that does not take the declared state by name."""
    takes = list(signature_of(cls.step).parameters.values())
    if any(one.kind is one.VAR_KEYWORD for one in takes):
        return
    names = [one.name for one in takes[4:]]
    for name in cls._fills:
        if name not in names:
            raise DeclarationError(
                f"{cls.__name__}.step: the state {name!r} is declared, but step takes "
                f"({', '.join(one.name for one in takes)}).{nearest(name, names)} "
                f"Expected step(self, xp, param, grad, {', '.join(cls._fills)})."
            )


def gives_a_result(rule: UpdateRule) -> DeclarationError:
    """The error for a rule whose step gives a new array instead of changing that of param."""
    return DeclarationError(
        f"{type(rule).__name__}.step: expected it to change param in place, as by `param -= ...`, "
        "and to return nothing; got a result, which nobody would take."
    )
