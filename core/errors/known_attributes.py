"""Which attributes an object may get, and of what kind, so that a slip is refused where it is made.

A class annotates its attributes, and that is the whole declaration: `epoch: int`, `enabled: bool`.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from core.errors.codes import codes
from core.errors.exceptions import UnknownName
from core.errors.kinds import Kind, annotations_of, kind_of, taking
from core.errors.slips import TellsSlips
from core.errors.suggestions import nearest

_OF_ONES_OWN = " One of your own may begin with an underscore, or be declared by a subclass."


class KnownAttributes(TellsSlips):
    """Base of classes whose objects take attributes that the class knows, of the kind it annotates.

    It knows those that it has, annotates, or names in a method. What sets itself, as a property, is
    left to check itself.

    >>> class Counter(KnownAttributes):
    ...     steps: int = 0
    >>> counter = Counter()
    >>> counter.steps = "three"
    Traceback (most recent call last):
    core.errors.InvalidSetting: Counter: expected steps to be a whole number, got str 'three'
    >>> try:
    ...     counter.step = 3
    ... except AttributeError as error:
    ...     print(str(error).partition(". ")[2])
    Did you mean 'steps'?
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # so that checkers refuse unknown attributes as well

        def __setattr__(self, name: str, value: Any) -> None:
            """Set an attribute that the class knows."""
            if name[0] != "_":
                value = self._checked_attribute(name, value)
            super().__setattr__(name, value)

        def _checked_attribute(self, name: str, value: Any) -> Any:
            cls = type(self)
            kind = _attribute_kinds(cls).get(name)
            if kind is not None and type(value) not in kind.types:
                value = taking(kind, cls.__name__, name)(value)
            if not hasattr(cls, name) and not self._may_have(name):
                own = [*self._settable()]
                hint = nearest(name, own, "hyperparameters") or nearest(name, dir(cls))
                raise UnknownName(
                    f"{cls.__name__} has no attribute {name!r} to be set; it has "
                    f"{', '.join(own) or 'none'}.{hint or _OF_ONES_OWN}"
                )
            return value

    def _may_have(self, name: str) -> bool:
        """Whether the attribute, which the class has not, may be set."""
        return name in vars(self) or names_attribute(type(self), name, KnownAttributes)

    def _settable(self) -> Iterable[str]:
        """What messages offer."""
        cls = type(self)
        return [name for name in dir(cls) if name[0] != "_" and not callable(getattr(cls, name))]


def annotated_kinds(cls: type) -> dict[str, Kind]:
    """What attributes may be, by their annotations in a class and its bases.

    >>> class Base:
    ...     steps: int
    ...     link: object
    >>> {name: str(kind) for name, kind in annotated_kinds(Base).items()}
    {'steps': 'a whole number'}
    """
    found = {
        name: kind_of(annotation, base.__module__)
        for base in reversed(cls.__mro__[:-1])
        for name, annotation in annotations_of(base).items()
    }
    return {name: kind for name, kind in found.items() if not kind.anything}


def _attribute_kinds(cls: type) -> dict[str, Kind]:
    """The annotated kinds of what is set as it is, read when an object is first given one."""
    known: dict[str, Kind] | None = cls.__dict__.get("_kinds_of_attributes")
    if known is None:
        known = {
            name: kind
            for name, kind in annotated_kinds(cls).items()
            if name[0] != "_" and not _sets_itself(getattr(cls, name, None))
        }
        cls._kinds_of_attributes = known  # type: ignore[attr-defined]
    return known


def _sets_itself(attribute: Any) -> bool:
    return hasattr(type(attribute), "__set__") and not isinstance(attribute, MemberDescriptorType)


def names_attribute(cls: type, name: str, base: type) -> bool:
    """Whether `cls`, or a class between it and `base`, annotates `name` or names it in a method.

    So a class that somebody derives may give its objects attributes of its own, in `__init__` or
    later, and others may set them too.

    >>> class Base:
    ...     pass
    >>> class Own(Base):
    ...     momentum: float
    ...     def __init__(self):
    ...         self.rate = 0.1
    >>> [names_attribute(Own, name, Base) for name in ("rate", "momentum", "rte")]
    [True, True, False]
    """
    derived = [each for each in cls.__mro__ if issubclass(each, base) and each is not base]
    others = [each for each in cls.__mro__ if not issubclass(base, each) and each not in derived]
    return any(
        name in annotations_of(each) or any(name in code.co_names for code in codes(each))
        for each in (*derived, *others)
    )
