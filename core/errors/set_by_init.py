"""Attributes that a base's `__init__` sets, and what is said where it was not called."""

from __future__ import annotations

from functools import cache
from typing import Any

from core.errors.exceptions import MissingInit
from core.errors.slips import TellsSlips


class SetByInit:
    """In the body of a class, stands for an attribute that its `__init__` gives to instances.

    A subclass that forgot `super().__init__()` gets an error at the first use of the attribute;
    once set, the instance's own attribute is found in its place.

    >>> class Base:
    ...     size: int = set_by_init()
    ...     def __init__(self):
    ...         self.size = 3
    >>> class Forgetful(Base):
    ...     def __init__(self):
    ...         pass
    >>> Base().size
    3
    >>> try:
    ...     Forgetful().size
    ... except RuntimeError as error:
    ...     print(str(error).partition(". ")[0])
    Forgetful: super().__init__() has not been called
    """

    def __get__(self, instance: Any, cls: type) -> SetByInit:
        if instance is None:
            return self
        raise missing_init(cls)


def missing_init(cls: type) -> MissingInit:
    """The error for an object of `cls` without what the `__init__` of its base sets."""
    return MissingInit(
        f"{cls.__name__}: super().__init__() has not been called. Call it, with what it takes, at "
        f"the beginning of {cls.__name__}.__init__."
    )


def set_by_init() -> Any:
    """A `SetByInit`, of any type, as annotated attributes need it."""
    return SetByInit()


class NeedsInit(TellsSlips):
    """Base of classes that are derived from, and whose methods need what their `__init__` sets.

    Which attributes those are is read from its code, once one was not found; classes that leave
    `__init__` as it is look their attributes up as any other.

    >>> class Base(NeedsInit):
    ...     def __init__(self):
    ...         self.size = 3
    >>> class Forgetful(Base):
    ...     def __init__(self):
    ...         pass
    >>> try:
    ...     Forgetful().size
    ... except RuntimeError as error:
    ...     print(str(error).partition(". ")[0])
    Forgetful: super().__init__() has not been called
    """

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__ and not hasattr(cls, "__getattr__"):
            cls.__getattr__ = _not_found  # type: ignore[attr-defined]


def _not_found(owner: Any, name: str) -> Any:
    refuse_forgotten(owner, name)
    return object.__getattribute__(owner, name)  # raises what it has raised before


def refuse_forgotten(owner: Any, name: str) -> None:
    """Raise where `owner` lacks the attribute because a base's `__init__` was not called."""
    for base in type(owner).__mro__:
        init = base.__dict__.get("__init__", object.__init__)
        if init in (object.__init__, type(owner).__init__) or name not in _set_by(init):
            continue
        kept = [each for each in _set_by(init) if type(getattr(base, each, None)) is not property]
        if not {*kept[:1]} & getattr(owner, "__dict__", {}).keys():
            raise missing_init(type(owner))


@cache
def _set_by(init: Any) -> tuple[str, ...]:
    """The names of the attributes that the code of an `__init__` sets, in the order of the code."""
    import dis
    import inspect

    code = getattr(inspect.unwrap(init), "__code__", None)
    if code is None:
        return ()
    steps = [*dis.get_instructions(code)]
    owner = next(iter(code.co_varnames), None)
    return tuple(
        [
            step.argval
            for before, step in zip(steps, steps[1:], strict=False)
            if step.opname == "STORE_ATTR" and _loads(before.argval) == owner
        ]
    )


def _loads(argument: Any) -> Any:
    """What an instruction loads last; newer Pythons load two at once."""
    return argument[-1] if isinstance(argument, tuple) else argument
