"""The operators of Variable: the specialised calls themselves, without a frame between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.dispatch import is_number, plain
from core.intrinsics.arithmetic import (
    Absolute,
    Add,
    Divide,
    FloorDivide,
    Multiply,
    Negative,
    Power,
    Subtract,
)
from core.intrinsics.comparisons import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual
from core.intrinsics.constants import (
    AddConstant,
    ConstantPower,
    DivideFromConstant,
    MultiplyConstant,
    SubtractFromConstant,
)
from core.intrinsics.standard import getitem, matmul
from core.variable import Variable, is_array


def _reflected(operation: Any, with_constant: Any) -> Callable[[Variable, Any], Variable]:
    """The operator for a Variable on the right: of a number, or of an array."""

    def reflected(self: Variable, other: Any) -> Variable:
        if is_number(other):
            return with_constant(self, plain(other))
        if not isinstance(other, Variable) and not is_array(other):
            return NotImplemented
        return operation(other, self)

    return reflected


def _install() -> None:
    """Give Variable its operators."""
    v: Any = Variable
    v.__add__, v.__radd__ = Add.call, _reflected(Add.call, AddConstant.call)
    v.__sub__ = Subtract.call
    v.__rsub__ = _reflected(Subtract.call, SubtractFromConstant.call)
    v.__mul__, v.__rmul__ = Multiply.call, _reflected(Multiply.call, MultiplyConstant.call)
    v.__truediv__ = Divide.call
    v.__rtruediv__ = _reflected(Divide.call, DivideFromConstant.call)
    v.__floordiv__ = FloorDivide.call
    v.__rfloordiv__ = lambda self, other: FloorDivide.call(other, self)
    v.__pow__, v.__rpow__ = Power.call, _reflected(Power.call, ConstantPower.call)
    v.__matmul__, v.__rmatmul__ = matmul, lambda self, other: matmul(other, self)
    v.__neg__, v.__abs__ = Negative.call, Absolute.call
    v.__pos__ = lambda self: self
    v.__getitem__ = getitem
    for name, operation in (
        ("eq", Equal),
        ("ne", NotEqual),
        ("lt", Less),
        ("le", LessEqual),
        ("gt", Greater),
        ("ge", GreaterEqual),
    ):
        setattr(v, f"__{name}__", _comparison(operation))


def _comparison(operation: Any) -> Callable[[Variable, Any], Any]:
    def compare(self: Variable, other: Any) -> Any:
        if not isinstance(other, Variable) and not is_number(other) and not is_array(other):
            return NotImplemented  # such as None: then by identity
        return operation.call(self, other)

    return compare


_install()
