"""Attributes that objects have only so that whoever asks for them is told what to write."""

from __future__ import annotations

from typing import Any

from core.errors.exceptions import UnknownName
from core.errors.known_attributes import names_attribute
from core.errors.synonyms import TABLE, quoted

SET = {
    "Link": {
        "trainable": "Call disable_update() or enable_update().",
        "training": "Use `with core.using_config('train', False):`.",
    }
}
"""Names of other libraries that are set there, by class -> what to do here."""


class NameOfOthers:
    """A method that another library has on such objects: an error that says what to write.

    Of several names that is the first which the object has, and the last in any case.
    """

    def __init__(self, name: str, *ours: str) -> None:
        self.name = name
        self.ours = ours

    def __get__(self, owner: Any, cls: type) -> Any:
        for base in cls.__mro__:  # a class beside the link may well have it
            other = base.__dict__.get(self.name, self)
            if type(other) is not type(self):
                return other.__get__(owner, cls) if hasattr(other, "__get__") else other
        *first, last = self.ours
        ours = next((each for each in first if hasattr(owner, each)), last)
        raise UnknownName(f"{cls.__name__} has no {self.name!r}. Did you mean {quoted(ours)}?")


class SettingOfOthers(NameOfOthers):
    """An attribute that another library has on such objects, which to set would change nothing.

    A class that annotates it, or names it in a method, has one of its own.
    """

    def __init__(self, name: str, ours: str, cure: str) -> None:
        super().__init__(name, ours)
        self.cure = cure

    def __get__(self, owner: Any, cls: type) -> Any:
        own = {} if owner is None else owner.__dict__
        return own[self.name] if self.name in own else super().__get__(owner, cls)

    def __set__(self, owner: Any, value: Any) -> None:
        cls = type(owner)
        base = next(each for each in cls.__mro__ if each.__dict__.get(self.name) is self)
        if self.name not in owner.__dict__ and not names_attribute(cls, self.name, base):
            raise UnknownName(
                f"{cls.__name__} has no {self.name!r}, and to set it would change nothing. "
                f"{self.cure}"
            )
        owner.__dict__[self.name] = value


class RemovedAttribute(NameOfOthers):
    """An attribute that objects once had: to read it or to set it is an error that has the cure."""

    def __init__(self, cure: str) -> None:
        self.cure = cure

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, cls: type) -> Any:
        raise UnknownName(f"{cls.__name__}.{self.name} no longer exists. {self.cure}")

    def __set__(self, owner: Any, value: Any) -> None:
        self.__get__(owner, type(owner))


def refuse_names_of_others(cls: type) -> None:
    """Let attributes of `cls` that other libraries have be refused with what to write."""
    for name, ours in TABLE[cls.__name__].items():
        cure = SET.get(cls.__name__, {}).get(name)
        names = (ours,) if isinstance(ours, str) else ours
        made = SettingOfOthers(name, names[0], cure) if cure else NameOfOthers(name, *names)
        setattr(cls, name, made)


def real_names(owner: object) -> list[str]:
    """The attributes of an object without those that are there only to be refused."""
    own, names = getattr(owner, "__dict__", ()), object.__dir__(owner)
    return [name for name in names if name in own or not _is_refused(type(owner), name)]


def _is_refused(cls: type, name: str) -> bool:
    found = next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), None)
    return isinstance(found, NameOfOthers)
