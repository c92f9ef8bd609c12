"""Reading what authors wrote in a class: its settings, and what its methods look at."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from opcode import opmap
from types import CodeType
from typing import TYPE_CHECKING, Any

from core.errors.arguments import arguments
from core.errors.kinds import MISSING, Kind, annotations_of, kind_of

if TYPE_CHECKING:
    import dis

_CONSTANT, _RETURN = opmap["LOAD_CONST"], opmap["RETURN_VALUE"]
_BOTH = opmap.get("RETURN_CONST", -1)  # both in one step, as Python 3.12 and 3.13 write it


def names(function: Callable[..., Any]) -> list[str]:
    """The names of its arguments."""
    return [a.name for a in arguments(function)]


def kinds(cls: type, fields: dict[str, Any]) -> dict[str, Kind]:
    """What each setting may be, by its annotation."""
    return {
        name: kind_of(annotation, base.__module__, fields[name])
        for base in own_classes(cls)
        for name, annotation in annotations_of(base).items()
        if name in fields
    }


def fields(cls: type) -> dict[str, Any]:
    """Annotated settings, the base classes' first, with their defaults."""
    fields: dict[str, Any] = {}
    for base in own_classes(cls):
        for name, kind in annotations_of(base).items():
            if not str(kind).startswith(("ClassVar", "typing.ClassVar")):
                fields[name] = getattr(cls, name, MISSING)
    return fields


def own_classes(cls: type) -> list[type]:
    """The class and its bases, the furthest first, without the engine's own."""
    return [base for base in reversed(cls.__mro__) if not is_engine(base)]


def is_engine(cls: type) -> bool:
    """Whether a class is what operations derive from, and declares nothing itself."""
    room, _, file = cls.__module__.rpartition(".")
    return file == "builtins" or room in ("core.graph", "core.ops")


def reads(function: Callable[..., Any], position: int) -> bool:
    """Whether the code of `function` loads its argument at `position`."""
    import dis

    name = names(function)[position]
    return any(
        step.opname.startswith("LOAD") and name in _loaded(step)
        for code in _codes(function)
        for step in dis.get_instructions(code)
    )


def _loaded(step: dis.Instruction) -> tuple[Any, ...]:
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def mentions(function: Callable[..., Any], attribute: str) -> bool:
    """Whether the code of `function` looks at an attribute of that name."""
    return any(attribute in code.co_names for code in _codes(function))


def returns_nothing(function: Callable[..., Any]) -> bool:
    """Whether it ends, but nowhere with a value, as where `return` was forgotten."""
    code = _codes(function)[0]
    if code.co_code[-4] != _CONSTANT and code.co_code[-2] != _BOTH:  # most, at a glance
        return False
    import dis

    ends = [
        (before if step.opcode == _RETURN else step, step.is_jump_target)
        for before, step in pairwise(dis.get_instructions(code))
        if step.opcode in (_RETURN, _BOTH)
    ]
    none = [given.opcode in (_CONSTANT, _BOTH) and given.argval is None for given, _ in ends]
    # Where several ways lead to one end, some may bring a value.
    return bool(ends) and all(none) and not any([several for _, several in ends])


def _codes(function: Callable[..., Any]) -> list[Any]:
    """The code of a function and of those defined inside it."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    found, pending = [], [function.__code__]
    while pending:
        code = pending.pop()
        found.append(code)
        pending += [const for const in code.co_consts if isinstance(const, CodeType)]
    return found
