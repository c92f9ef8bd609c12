"""The array standard's promotion: arrays of two widths of one kind are cast to their common dtype.

Operators refuse such pairs, as the type checks of all operations do. The functions of the
differentiable namespace cast them first; the gradients are cast back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from core import Variable, as_variable
from core.arrays.backend import BACKENDS
from core.errors import InvalidType
from core.errors.scalars import is_number, python_number
from core.ops.operands import as_operand, refuse_unlike
from plugins.functions.array.cast import arrays_in, cast
from plugins.functions.refusal import dtype_name, require

_KINDS = {"b": "bool", "i": "integer", "u": "integer", "f": "floating", "V": "floating"}


def is_floating(*operands: Any) -> bool:
    """Whether some operand is an array or a Variable of real floating numbers."""
    return any([BACKENDS[type(a)].kind(a.dtype) in "fV" for a in arrays_in(operands)])


def is_integral(*operands: Any) -> bool:
    """Whether the arrays among the operands are of integers or truth values, one at least."""
    kinds = [BACKENDS[type(a)].kind(a.dtype) for a in arrays_in(operands)]
    return bool(kinds) and all([kind in "biu" for kind in kinds])


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


def with_number(name: str, *given: Any) -> tuple[Any, ...]:
    """The operands, a number beside integers or real numbers in the dtype of these.

    It is refused as beside any operation: NumPy would make other arrays of it.

    >>> import numpy as np
    >>> with_number("maximum", np.ones(1, "int8"), 3)[1].dtype
    dtype('int8')
    """
    array = next(iter(arrays_in(given)), None)
    if array is None or BACKENDS[type(array)].kind(array.dtype) not in "iufV":
        return given
    refuse_unlike(name, [python_number(x) for x in given if is_number(x)], array)
    return tuple([as_operand(x, array) if is_number(x) else x for x in given])


def promoting(name: str, operation: Any, integral: Any = None) -> Callable[[Any, Any], Variable]:
    """An operation of two operands, on what it refuses as they are: cast to their common dtype.

    `integral(name, x1, x2)` computes what the operation refuses on integers. The function's `exact`
    does all but the casting, by the class `exact.operation`.
    """

    def exact(x1: Any, x2: Any, /) -> Variable:
        try:
            return operation.call(x1, x2)
        except InvalidType:
            if integral is None or not is_integral(x1, x2):
                raise
        x1, x2 = with_number(name, x1, x2)
        names = [dtype_name(a) for a in arrays_in((x1, x2))]
        require(name, ("x1.dtype == x2.dtype", names[0], names[-1]))
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
    exact.operation = operation  # type: ignore[attr-defined]
    function.exact = exact  # type: ignore[attr-defined]
    return function


def with_operands(function: Any) -> Any:
    """A function of two Variables, for whatever `operands` makes Variables of."""

    @wraps(function)
    def prepared(x1: Any, x2: Any, /) -> Variable:
        return function(*operands(x1, x2))

    return prepared
