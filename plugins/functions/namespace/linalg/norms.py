"""Lengths of vectors and sizes of matrices."""

from __future__ import annotations

from math import inf
from typing import Any

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array, Axes
from plugins.functions.array.cast import cast
from plugins.functions.array.reshape import reshape
from plugins.functions.math.lengths import EuclideanNorm, PowerNorm
from plugins.functions.math.sum import Sum
from plugins.functions.math.sum import sum as summed
from plugins.functions.namespace.linalg.singular_values import svdvals
from plugins.functions.namespace.plain import count_nonzero
from plugins.functions.namespace.reductions import max, min


@checked
def vector_norm(
    x: Array, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2
) -> Variable:
    """The lengths of vectors along axes, by default of all elements as one.

    `ord` is p in the root of order p of the sum of |x|^p; inf and -inf give the greatest and the
    least size, 0 how many elements are not 0. At a vector of zeros the gradient is taken as 0, and
    so is that of each element which is 0.

    >>> import numpy as np
    >>> vector_norm(np.array([3.0, -4.0])), vector_norm(np.array([3.0, -4.0]), ord=1)
    (variable(5.), variable(7.))
    """
    if ord == 2:
        return EuclideanNorm.call(x, axis, keepdims)
    x = as_variable(x)
    if ord == 0:
        real = x.xp.real(x.array).dtype if x.backend.kind(x.dtype) == "c" else x.dtype
        return cast(count_nonzero(x, axis=axis, keepdims=keepdims), real)
    sizes = abs(x)
    if abs(ord) == inf:
        return (max if ord > 0 else min)(sizes, axis=axis, keepdims=keepdims)
    if ord == 1:
        return Sum.call(sizes, axis, keepdims)
    return PowerNorm.call(x, ord, axis, keepdims)


@checked
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Variable:
    """The norms of matrices: of all elements ('fro'), of singular values, of rows or columns.

    `ord` is 'fro', 'nuc' (the sum of the singular values), 2 or -2 (the greatest or the least of
    them), 1 or -1 (of the sums of sizes in each column), inf or -inf (of those in each row).

    >>> import numpy as np
    >>> matrix_norm(np.array([[1.0, 2.0], [-3.0, 4.0]]), ord=1)
    variable(6.)
    """
    x = as_variable(x)
    if ord == "fro":
        return EuclideanNorm.call(x, (-2, -1), keepdims)
    if ord in (1, -1, inf, -inf):
        sums = summed(abs(x), axis=-1 if abs(ord) == inf else -2)
    elif ord in ("nuc", 2, -2):
        sums = svdvals(x)
    else:
        raise ValueError(
            f"matrix_norm: expected ord to be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}"
        )
    reduced = summed if ord == "nuc" else max if ord > 0 else min
    y = reduced(sums, axis=-1)
    return reshape(y, (*x.shape[:-2], 1, 1)) if keepdims else y
