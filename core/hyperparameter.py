"""Hyper-parameters: numbers that update rules share with their optimizer, or set themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Number
from typing import Any

from core.errors import UnknownName, nearest


class Hyperparameter:
    """A set of named numbers; what it does not set itself it takes from its parent.

    An optimizer has one, and each of its update rules a child of it: setting `lr` on the optimizer
    changes all, setting it on a rule changes that parameter's alone.

    Args:
        parent: Where names are looked up that are not set here.

    >>> from core.hyperparameter import Hyperparameter
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

    def __init__(self, parent: Hyperparameter | None = None) -> None:
        object.__setattr__(self, "_parent", parent)

    @property
    def parent(self) -> Hyperparameter | None:
        """Where names are looked up that are not set here."""
        return self._parent

    def __getattr__(self, name: str) -> Any:
        parent = self.__dict__.get("_parent")
        if parent is None or name.startswith("__"):
            raise UnknownName(f"there is no hyper-parameter {name!r}.")
        if name in parent.__dict__:
            return parent.__dict__[name]
        try:
            return getattr(parent, name)
        except UnknownName:
            known = self.get_dict()
            raise UnknownName(
                f"there is no hyper-parameter {name!r}; there are {', '.join(known)}."
                f"{nearest(name, known, 'hyperparameters')}"
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Set it here. Below a parent a name that nobody has is taken for a slip."""
        if self._parent is not None and name not in self.get_dict():
            known = self.get_dict()
            raise UnknownName(
                f"cannot set the hyper-parameter {name!r}; there are {', '.join(known) or 'none'}."
                f"{nearest(name, known, 'hyperparameters')}"
            )
        number = as_number(type(self).__name__, name, value, getattr(self, name, None))
        object.__setattr__(self, name, number)

    def define(self, **values: Any) -> Hyperparameter:
        """Set values under names that may be new; gives itself."""
        self.__dict__.update(values)
        return self

    def get_dict(self) -> dict[str, Any]:
        """Every name in force with its value."""
        known = {} if self._parent is None else self._parent.get_dict()
        return {**known, **{k: v for k, v in self.__dict__.items() if k != "_parent"}}

    def __repr__(self) -> str:
        return f"Hyperparameter({', '.join(f'{k}={v!r}' for k, v in self.get_dict().items())})"


def as_number(owner: str, name: str, value: Any, default: Any = 0.0) -> Any:
    """The value, which has to be a number, and not NaN, where `default` is one.

    A scalar of NumPy becomes Python's, since it would widen the arrays that it meets. `owner` is
    for the message.

    >>> from core.hyperparameter import as_number
    >>> as_number("SGD", "lr", "0.1")
    Traceback (most recent call last):
    TypeError: SGD: expected a number for lr, got '0.1' (str).
    """
    if not isinstance(default, (bool, int, float)):
        return value
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(
            f"{owner}: expected a number for {name}, got {value!r} ({type(value).__name__})."
        )
    if getattr(value, "shape", ()) == () and math.isnan(float(value)):
        raise ValueError(f"{owner}: expected a number for {name}, got {value!r}.")
    return value.item() if isinstance(value, Number) and hasattr(value, "item") else value


class HyperparameterProxy:
    """An attribute that reads and writes a hyper-parameter of the object that has it.

    Args:
        attr_name: The hyper-parameter's name in `obj.hyperparam`.
    """

    def __init__(self, attr_name: str) -> None:
        self._name = attr_name
        self.__doc__ = f"The hyper-parameter `{attr_name}`."

    def __get__(self, obj: Any, type: Any = None) -> Any:
        return self if obj is None else getattr(obj.hyperparam, self._name)

    def __set__(self, obj: Any, value: Any) -> None:
        known = getattr(obj.hyperparam, self._name, None)
        number = as_number(type(obj).__name__, self._name, value, known)
        setattr(obj.hyperparam, self._name, number)


def take_declared(cls: type, known: Iterable[str] = ()) -> dict[str, Any]:
    """The hyper-parameters that the body of a class declares, replaced by proxies to their values.

    A field declares one if it is annotated, has a value, no leading underscore and is no ClassVar;
    a plain value under a name `known` from a base class is a new default for it.
    """
    annotations = cls.__annotations__
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
