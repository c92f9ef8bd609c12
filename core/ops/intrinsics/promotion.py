"""The array standard's promotion: arrays of two widths of one kind are cast to their common dtype.

Operators refuse such pairs, as the type checks of all operations do. The functions of the
differentiable namespace cast them first; the gradients are cast back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from core.arrays.backend import BACKENDS
from core.errors import InvalidType
from core.errors.scalars import is_number
from core.graph.fitting import is_array
from core.graph.variable import Variable, as_array, as_variable
from core.ops.intrinsics.casting import Cast
from core.ops.operands import as_operand

_KINDS = {"b": "bool", "i": "integer", "u": "integer", "f": "floating", "V": "floating"}


def arrays_in(operands: tuple[Any, ...]) -> list[Any]:
    """The arrays of the Variables and arrays among some operands."""
    return [a for a in map(as_array, operands) if is_array(a)]


def is_floating(*operands: Any) -> bool:
    """Whether some operand is an array or a Variable of real floating numbers."""
    return any([BACKENDS[type(a)].kind(a.dtype) in "fV" for a in arrays_in(operands)])


def is_integral(*operands: Any) -> bool:
    """Whether the arrays among the operands are of integers or truth values, one at least."""
    kinds = [BACKENDS[type(a)].kind(a.dtype) for a in arrays_in(operands)]
    return bool(kinds) and all([kind in "biu" for kind in kinds])


def is_complex(*operands: Any) -> bool:
    """Whether some operand is an array or a Variable of complex numbers."""
    return any([BACKENDS[type(a)].kind(a.dtype) == "c" for a in arrays_in(operands)])


def promoted(*operands: Any) -> tuple[Any, ...]:
    """The operands, the arrays of one kind but of several widths among them cast to the widest.

    >>> import numpy as np
    >>> promoted(np.ones(1, "f"), np.ones(1), 3)
    (variable([1.]), variable([1.]), 3)
    """
    arrays = arrays_in(operands)
    dtypes = {a.dtype for a in arrays}
    backend = BACKENDS[type(arrays[0])] if arrays else None
    if backend is None or len(dtypes) == 1:
        return operands
    kinds = {_KINDS.get(backend.kind(dtype)) for dtype in dtypes}
    if len(kinds) > 1 or any([BACKENDS[type(a)] is not backend for a in arrays]):
        return operands
    common = backend.xp.result_type(*dtypes)
    if _KINDS.get(backend.kind(common)) not in kinds:  # NumPy's float64 of uint64 with int64
        return operands
    return tuple([x if is_number(x) else cast(x, common) for x in operands])


def refuse_complex(name: str, *operands: Any) -> None:
    """Raise, for the function of that name, where an operand is an array of complex numbers."""
    for a in arrays_in(operands):
        if is_complex(a):
            dtype = BACKENDS[type(a)].dtype_name(a.dtype)
            came = f"{dtype} (use the .array, or compute with real and imaginary parts)"
            raise InvalidType("x.dtype is real-valued", came, operation=name)


def cast(x: Any, dtype: Any) -> Variable:
    """X in another dtype; itself if it has that one. Integers and truth have no gradient."""
    x = as_variable(x)
    to = x.backend.dtype(dtype)
    if x.dtype == to:
        return x
    if x.backend.kind(to) != "c":
        refuse_complex(f"cast to {x.backend.dtype_name(to)}", x)
    if x.backend.kind(to) not in "biu":
        return Cast.call(x, dtype)
    whole = Cast.call(x.array, dtype)
    whole._nondifferentiable = f"Cast to {x.backend.dtype_name(to)}"
    return whole


def operands(*given: Any) -> tuple[Variable, ...]:
    """Variables of one dtype from arrays that can be promoted, and from numbers beside them."""
    first = next(iter(arrays_in(given)), None)
    if first is None:
        raise TypeError(
            "expected a Variable or an array among the operands, got "
            f"{', '.join(type(x).__name__ for x in given)}"
        )
    return tuple(
        [as_variable(as_operand(x, first) if is_number(x) else x) for x in promoted(*given)]
    )


def promoting(name: str, operation: Any, integral: Any = None) -> Callable[[Any, Any], Variable]:
    """An operation of two operands, on what it refuses as they are: cast to their common dtype.

    `integral(name, x1, x2)` computes what the operation refuses on integers. The function's `exact`
    does all but the casting.
    """

    def exact(x1: Any, x2: Any, /) -> Variable:
        try:
            return operation.call(x1, x2)
        except InvalidType:
            if integral is None or not is_integral(x1, x2):
                raise
        return integral(name, x1, x2)

    def function(x1: Any, x2: Any, /) -> Variable:
        try:
            return exact(x1, x2)
        except InvalidType:
            cast1, cast2 = promoted(x1, x2)
            if cast1 is x1 and cast2 is x2:
                raise
        return exact(cast1, cast2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The array standard's `{name}`: operands of two widths are promoted."
    function.exact = exact  # type: ignore[attr-defined]
    return function


def with_operands(function: Any) -> Any:
    """A function of two Variables, for whatever `operands` makes Variables of."""

    @wraps(function)
    def prepared(x1: Any, x2: Any, /) -> Variable:
        return function(*operands(x1, x2))

    return prepared
