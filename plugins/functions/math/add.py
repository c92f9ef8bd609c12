"""Sums of any number of arrays."""

from __future__ import annotations

from core import Variable, as_variable
from core.typing import Operand
from plugins.functions.math.arithmetic import Add as Add


def add(*xs: Operand) -> Variable:
    """Add all arguments element by element, with broadcasting.

    Args:
        *xs: At least one array or Variable, of one dtype, with shapes that broadcast.

    Returns:
        The common shape, and the dtype of the arguments.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        TypeError: There is no argument.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([1, 2], "f")
    >>> F.add(x, x, x)
    variable([3., 6.], dtype=float32)
    """
    if not xs:
        raise TypeError("add: expected at least one argument, got none")
    total = as_variable(xs[0])
    for x in xs[1:]:
        total = Add.call(total, x)
    return total
