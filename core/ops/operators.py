"""The operators of Variable: the specialised calls themselves, without a frame between."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from core.errors.scalars import is_number, python_number
from core.graph import array_api
from core.graph.fitting import is_array
from core.graph.variable import Variable
from core.ops.namespace import namespace
from core.ops.operands import in_dtype_of, refuse_unlike


def _operation(name: str) -> Any:
    """The class behind a function of the namespace; None for any other function of a plugin."""
    function = getattr(namespace, name)
    return getattr(getattr(function, "exact", function), "operation", None)


def _reflected(operation: Any) -> Callable[[Variable, Any], Any]:
    """The operator for a Variable on the right: of a number, or of an array."""
    with_constant = operation.from_scalar

    def reflected(self: Variable, other: Any) -> Any:
        if is_number(other):
            number = python_number(other)
            if type(number) is complex:
                refuse_unlike(with_constant.__name__, [number], self.array)
            return with_constant.call(self, number)
        if not isinstance(other, Variable) and not is_array(other):
            return NotImplemented
        return operation.call(in_dtype_of(self, other), self)

    return reflected


_ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "pow",
}
_DIVISIONS = {"floordiv": "floor_divide", "mod": "remainder"}
_BITWISE = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
_SHIFTS = {"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
_EQUALITY = {"eq": "equal", "ne": "not_equal"}
_ORDER = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
_OF_THE_NAMESPACE = _DIVISIONS | _BITWISE | _SHIFTS | _EQUALITY | _ORDER


def _by_name(name: str, reflected: bool = False) -> Callable[[Variable, Any], Any]:
    """An operator that is looked up in the namespace: one without derivative, or a rare one."""

    def operator(self: Variable, other: Any) -> Any:
        if not isinstance(other, Variable) and not is_number(other) and not is_array(other):
            return NotImplemented  # such as None: then compared by identity
        function = getattr(namespace, name)
        function = getattr(function, "exact", function)
        other = in_dtype_of(self, other)
        return function(other, self) if reflected else function(self, other)

    return operator


def _install() -> None:
    """Give Variable its operators; those written by name are the specialised calls themselves."""
    v: Any = Variable
    looked_up = dict(_OF_THE_NAMESPACE)
    for name, function in _ARITHMETIC.items():
        operation = _operation(function)
        if getattr(operation, "from_scalar", None) is None:  # a plugin's that is preferred
            looked_up[name] = function
        else:
            operation.bind(partial(setattr, v, f"__{name}__"))
            setattr(v, f"__r{name}__", _reflected(operation))
    v.__neg__ = lambda self: namespace.negative(self)
    if (operation := _operation("negative")) is not None:
        operation.bind(partial(setattr, v, "__neg__"))
    v.__matmul__ = lambda self, other: namespace.matmul(self, other)  # which takes integers, too
    v.__rmatmul__ = lambda self, other: namespace.matmul(other, self)
    v.__pos__, v.__abs__ = lambda self: self, lambda self: namespace.abs(self)
    v.__getitem__ = lambda self, slices: array_api.functions.get_item(self, slices)
    v.__setitem__ = lambda self, *item: array_api.functions.SetItem.assign(self, *item)
    for name, function in looked_up.items():
        setattr(v, f"__{name}__", _by_name(function))
        if hasattr(v, f"__r{name}__"):  # which comparisons lack
            setattr(v, f"__r{name}__", _by_name(function, reflected=True))
    v.__invert__ = lambda self: namespace.bitwise_invert(self)
    signatures = sys.modules.get("core.registry.signatures")
    if signatures:  # else nothing was shown yet
        signatures.show_again(Variable)


_install()
