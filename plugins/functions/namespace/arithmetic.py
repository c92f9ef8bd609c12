"""Elementwise functions that take integers as well, or that are made of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Variable, as_array, as_variable
from core.intrinsics import where
from core.variable import is_array
from plugins.functions.activation.softplus import Softplus
from plugins.functions.math.clip import Clip
from plugins.functions.math.maximum import Maximum, Minimum
from plugins.functions.math.root import Sqrt, Square
from plugins.functions.math.rounding import Ceil, Fix, Floor
from plugins.functions.namespace.plain import without_gradient


def is_floating(*operands: Any) -> bool:
    """Whether some operand is an array or a Variable of real floating numbers."""
    arrays = [x for x in map(as_array, operands) if is_array(x)]
    return any([as_variable(x).backend.kind(x.dtype) in "fV" for x in arrays])


def _numeric(op: Any, name: str) -> Callable[..., Variable]:
    """The op on floating arrays, the namespace's own function on others."""

    def function(*operands: Any) -> Variable:
        if is_floating(*operands):
            return op.call(*operands)  # type: ignore[no-any-return]
        return without_gradient(name, *operands)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The array standard's `{name}`, differentiable on floating arrays."
    return function


ceil = _numeric(Ceil, "ceil")
floor = _numeric(Floor, "floor")
maximum = _numeric(Maximum, "maximum")
minimum = _numeric(Minimum, "minimum")
square = _numeric(Square, "square")
trunc = _numeric(Fix, "trunc")


def clip(x: Any, min: Any = None, max: Any = None) -> Variable:
    """The elements kept between bounds: numbers, arrays that broadcast, or None.

    >>> import numpy as np
    >>> clip(np.array([-9.0, 9.0]), 0, np.array([1.0, 2.0]))
    variable([0., 2.])
    """
    if is_floating(x) and not any([is_array(as_array(bound)) for bound in (min, max)]):
        return Clip.call(x, min, max)
    x = as_variable(x)
    if min is not None:
        x = maximum(x, min)
    return x if max is None else minimum(x, max)


def copysign(x1: Any, x2: Any) -> Variable:
    """The size of x1 with the sign of x2.

    >>> import numpy as np
    >>> copysign(np.array([1.0, -2.0]), np.array([-1.0, 1.0]))
    variable([-1.,  2.])
    """
    size = abs(as_variable(x1))
    return where(without_gradient("signbit", x2), -size, size)


def hypot(x1: Any, x2: Any) -> Variable:
    """The square root of the sum of two squares; where both are 0, the derivative is taken as 0.

    >>> import numpy as np
    >>> hypot(np.array([3.0, 3e200]), np.array([4.0, 4e200]))
    variable([5.e+000, 5.e+200])
    """
    x1, x2 = abs(as_variable(x1)), abs(as_variable(x2))
    # Chosen together, so that equal ones have the derivative of one choice, not of both.
    first = x1 > x2
    greater, lesser = where(first, x1, x2), where(first, x2, x1)
    safe = where(greater == 0, 1.0, greater)
    ratio = lesser / safe
    return greater * Sqrt.call(ratio * ratio + 1.0)


def logaddexp(x1: Any, x2: Any) -> Variable:
    """log(exp(x1) + exp(x2)), without overflow.

    >>> import numpy as np
    >>> logaddexp(np.array([1000.0]), np.array([0.0]))
    variable([1000.])
    """
    over = as_variable(x1 - x2)
    # Either branch is smooth where the two meet, as a maximum plus a remainder would not be.
    return where(over > 0, x1 + Softplus.call(-over), x2 + Softplus.call(over))


def reciprocal(x: Any) -> Variable:
    """1 / x.

    >>> import numpy as np
    >>> reciprocal(np.array([2.0]))
    variable([0.5])
    """
    return 1.0 / as_variable(x)


def remainder(x1: Any, x2: Any) -> Variable:
    """What remains of x1 when divided by x2, with the sign of x2, as Python's `%`.

    >>> import numpy as np
    >>> remainder(np.array([-7.0]), np.array([3.0]))
    variable([2.])
    """
    if not is_floating(x1, x2):
        return without_gradient("remainder", x1, x2)  # type: ignore[no-any-return]
    x1, x2 = as_variable(x1), x2
    # The value is the backend's own, exact one; the derivatives are those of x1 - n x2.
    count = without_gradient("floor_divide", x1, x2)
    return x1 - count * x2
