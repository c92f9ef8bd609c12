"""The operators, methods and attributes of traced arrays: each records its call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.programs import Call


class Operators:
    """What has them; a subclass says how a call is recorded.

    No abstract base class, of which `isinstance` takes several times as long.
    """

    __slots__ = ()

    def _apply(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call; gives its result."""
        raise NotImplementedError(f"{type(self).__name__} has no _apply: define it.")

    def _operate_in_place(self, name: str, plain: Call, other: Any) -> Any:
        """Record an operator in place, by name; `plain` is the call of the one that is not."""
        raise NotImplementedError(f"{type(self).__name__} has no _operate_in_place: define it.")

    def _is_beside(self, other: Any) -> bool:
        """Whether `other` can stand beside it; a subclass refuses what NumPy would make one of."""
        return is_operand(other)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self


def is_operand(x: Any) -> bool:
    """Whether it can stand beside an array: a number or an array."""
    return isinstance(x, (int, float, complex, Operators)) or hasattr(x, "__array_interface__")


def _operate(call: Call) -> Callable[..., Any]:
    def operate(self: Any, other: Any) -> Any:
        if not self._is_beside(other):
            return NotImplemented
        return self._apply(call, (self, other), {})

    return operate


def _reflect(call: Call) -> Callable[..., Any]:
    def operate(self: Any, other: Any) -> Any:
        if not self._is_beside(other):
            return NotImplemented
        return self._apply(call, (other, self), {})

    return operate


def _in_place(name: str, plain: Call) -> Callable[..., Any]:
    def operate(self: Any, other: Any) -> Any:
        if not self._is_beside(other):
            return NotImplemented
        return self._operate_in_place(name, plain, other)

    return operate


def _recorded(call: Call) -> Callable[..., Any]:
    def record(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._apply(call, (self, *args), kwargs)

    return record


_BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift"
_METHODS = (
    "sum prod max min mean std var any all argmax argmin clip round dot repeat take cumsum conj "
    "transpose swapaxes squeeze reshape ravel flatten argsort searchsorted cumprod diagonal trace "
    "conjugate nonzero compress"
)
for _name in _BINARY.split():
    _plain, _call = _name.rstrip("_"), Call("operator", _name)
    setattr(Operators, f"__{_plain}__", _operate(_call))
    setattr(Operators, f"__r{_plain}__", _reflect(_call))
    setattr(Operators, f"__i{_plain}__", _in_place("i" + _plain, _call))
for _name in ["lt", "le", "gt", "ge", "eq", "ne"]:
    setattr(Operators, f"__{_name}__", _operate(Call("operator", _name)))
for _name in ["neg", "pos", "abs", "invert"]:
    setattr(Operators, f"__{_name}__", _recorded(Call("operator", _name)))
for _name in _METHODS.split():
    setattr(Operators, _name, _recorded(Call("method", _name)))
for _name in ["T", "mT", "real", "imag"]:
    setattr(Operators, _name, property(_recorded(Call("attribute", _name))))
