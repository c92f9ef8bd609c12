"""Places of arrays for libraries whose arrays cannot be changed: what looks as if it could be.

An update rule changes its parameter and state in place, `v *= 0.9; param -= v; m[...] = 0`. Where a
library has no such thing, it is given cells, each of which holds an array and takes another one
where an array would be changed, and a namespace whose functions take cells for their arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import wraps
from typing import Any

from core.typing import AnyArray

_BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
_BINARY += ["and", "or", "xor", "lshift", "rshift"]
_COMPARED = ["lt", "le", "gt", "ge", "eq", "ne"]
_UNARY = ["neg", "pos", "abs", "invert"]
_KEYWORDS = {"and": "and_", "or": "or_"}


class Cell:
    """The place of an array: computed with as the array is, and changed in place."""

    __slots__ = ("_backend", "array")
    __array_priority__ = 1000
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, backend: Any, array: AnyArray) -> None:
        self._backend = backend
        self.array = array

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)

    def __getitem__(self, index: Any) -> Any:
        return self.array[_array(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.array = self._backend.put(self.array, _array(index), _array(value))

    def __repr__(self) -> str:
        return f"Cell({self.array!r})"


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Cell) else value


def _binary(operate: Callable[[Any, Any], Any], reflected: bool = False) -> Callable[..., Any]:
    def method(self: Cell, other: Any) -> Any:
        pair = (_array(other), self.array) if reflected else (self.array, _array(other))
        return operate(*pair)

    return method


def _in_place(operate: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def method(self: Cell, other: Any) -> Cell:
        before, found = self.array, operate(self.array, _array(other))
        if found.dtype != before.dtype or found.shape != before.shape:
            found = self._backend.copyto(before, found)  # a place keeps both, or refuses
        self.array = found
        return self

    return method


def _unary(operate: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda self: operate(self.array)


for _name in _BINARY:
    _operate = getattr(operator, _KEYWORDS.get(_name, _name))
    setattr(Cell, f"__{_name}__", _binary(_operate))
    setattr(Cell, f"__r{_name}__", _binary(_operate, reflected=True))
    setattr(Cell, f"__i{_name}__", _in_place(_operate))
for _name in _COMPARED:
    setattr(Cell, f"__{_name}__", _binary(getattr(operator, _name)))
for _name in _UNARY:
    setattr(Cell, f"__{_name}__", _unary(getattr(operator, _name)))


class CellNamespace:
    """A namespace whose functions take cells for the arrays in them."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._xp, name)
        if callable(found) and not isinstance(found, type):
            found = _taking_cells(found)
        setattr(self, name, found)
        return found


def _taking_cells(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def taking_cells(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_array, args), **{k: _array(v) for k, v in kwargs.items()})

    return taking_cells
