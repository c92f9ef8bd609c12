"""Hyper-parameters: numbers that update rules share with their optimizer, or set themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from core.errors import UnknownName, nearest
from core.errors.interval import Interval
from core.errors.kinds import kind_of, taking
from core.errors.scalars import as_number

_WHOLE = kind_of("int")


class Hyperparameter:
    """A set of named numbers; a name that is not set here is looked up in the parent.

    An optimizer has one, and each of its update rules a child of it: setting `lr` on the optimizer
    changes all, setting it on a rule changes that parameter's alone.

    Args:
        parent: Where names are looked up that are not set here.
        ranges: The interval that a number has to be in, by its name.
        whole: The names of those that have to be whole.

    >>> from core.optimizer.hyperparameter import Hyperparameter
    >>> shared = Hyperparameter()
    >>> shared.lr = 0.1
    >>> own = Hyperparameter(shared)
    >>> own.lr
    0.1
    >>> own.lr = 0.01
    >>> own, shared
    (Hyperparameter(lr=0.01), Hyperparameter(lr=0.1))
    """

    _parent: Hyperparameter | None
    _ranges: Mapping[str, Interval] = {}
    _whole: Collection[str] = ()
    _closed: bool = False

    def __init__(
        self,
        parent: Hyperparameter | None = None,
        ranges: Mapping[str, Interval] | None = None,
        whole: Collection[str] = (),
    ) -> None:
        object.__setattr__(self, "_parent", parent)
        if whole:
            object.__setattr__(self, "_whole", whole)
        if ranges:
            object.__setattr__(self, "_ranges", ranges)
        if parent is not None and parent._closed:
            object.__setattr__(self, "_closed", True)

    @property
    def parent(self) -> Hyperparameter | None:
        """Where names are looked up that are not set here."""
        return self._parent

    def __getattr__(self, name: str) -> Any:
        parent = self.__dict__.get("_parent")
        if parent is not None and name in (known := parent.__dict__):
            return known[name]
        if parent is None or name.startswith("__"):
            raise UnknownName(f"there is no hyper-parameter {name!r}.")
        try:
            return getattr(parent, name)
        except UnknownName:
            known = self.get_dict()
            raise UnknownName(
                f"there is no hyper-parameter {name!r}; there are {', '.join(known)}."
                f"{nearest(name, known, 'hyperparameters')}"
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Set it here. Where names have been declared, another one is taken for a slip."""
        self.assign(type(self).__name__, name, value)

    def assign(self, owner: str, name: str, value: Any) -> None:
        """Set it here, as an attribute of `owner`, for messages.

        Raises:
            UnknownName: Names have been declared, and this is none of them.
            TypeError: The value is not a number, where a number stood.
            ValueError: The number is outside of what the name means.
        """
        if self._closed and name not in self.get_dict():
            known = self.get_dict()
            raise UnknownName(
                f"cannot set the hyper-parameter {name!r}; there are {', '.join(known) or 'none'}."
                f"{nearest(name, known, 'hyperparameters')}"
            )
        within = self._range_of(name)
        number = as_number(owner, name, value, getattr(self, name, None), within)
        if self._is_whole(name):
            number = taking(_WHOLE, owner, name)(number)
        object.__setattr__(self, name, number)

    def _range_of(self, name: str) -> Interval | None:
        above = None if self._parent is None else self._parent._range_of(name)
        return self._ranges.get(name, above)

    def _is_whole(self, name: str) -> bool:
        return name in self._whole or (self._parent is not None and self._parent._is_whole(name))

    def define(self, **values: Any) -> Hyperparameter:
        """Declare names with their values; returns itself."""
        self.__dict__.update(values, _closed=True)
        return self

    def get_dict(self) -> dict[str, Any]:
        """Return every name with its current value."""
        known = {} if self._parent is None else self._parent.get_dict()
        return {**known, **{k: v for k, v in self.__dict__.items() if not k.startswith("_")}}

    def key(self) -> tuple[Any, ...]:
        """Equal for those that have one parent and set the same numbers."""
        own = [pair for pair in self.__dict__.items() if pair[0][0] != "_"]
        return (self._parent, *own)

    def __repr__(self) -> str:
        return f"Hyperparameter({', '.join(f'{k}={v!r}' for k, v in self.get_dict().items())})"


class HyperparameterProxy:
    """An attribute that reads and writes a hyper-parameter of the object that has it.

    Args:
        attr_name: The hyper-parameter's name in `obj.hyperparam`.
    """

    def __init__(self, attr_name: str) -> None:
        self._name = attr_name
        self.__doc__ = f"The hyper-parameter `{attr_name}`."

    def __get__(self, obj: Any, type: Any = None) -> Any:
        if obj is None:
            return self
        numbers, name = obj.hyperparam, self._name
        while numbers is not None:
            known = numbers.__dict__
            if name in known:
                return known[name]
            numbers = known.get("_parent")
        return getattr(obj.hyperparam, name)  # which says that there is none

    def __set__(self, obj: Any, value: Any) -> None:
        obj.hyperparam.assign(type(obj).__name__, self._name, value)


class Quantity:
    """An attribute that is a number within an interval, whenever and by whom it is set.

    >>> from core.optimizer.hyperparameter import Quantity
    >>> class Decay:
    ...     rate = Quantity("[0, inf)")
    >>> Decay().rate = -1
    Traceback (most recent call last):
    ValueError: Decay: expected rate in [0, inf), got -1.
    """

    def __init__(self, within: str) -> None:
        self._within = Interval(within)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self.__doc__ = f"A number in {self._within}."

    def __get__(self, obj: Any, type: Any = None) -> Any:
        if obj is None:
            return self
        if self._name not in obj.__dict__:
            raise AttributeError(f"{type.__name__}.{self._name} has not been set.")
        return obj.__dict__[self._name]

    def __set__(self, obj: Any, value: Any) -> None:
        number = as_number(type(obj).__name__, self._name, value, within=self._within)
        obj.__dict__[self._name] = number
