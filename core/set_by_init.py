"""Attributes that a base's `__init__` sets, and what is said where it was not called."""

from __future__ import annotations

from typing import Any

from core.errors import MissingInit


class SetByInit:
    """In the body of a class, stands for an attribute that its `__init__` gives to instances.

    A subclass that forgot `super().__init__()` is told so at the first use of the attribute; once
    set, the instance's own attribute is found in its place.

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
