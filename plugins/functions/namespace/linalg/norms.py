"""Lengths of vectors and sizes of matrices."""

from __future__ import annotations

from math import inf
from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, axes, choice, real
from core.errors.kinds import checked
from core.typing import Array, Axes, Axis
from plugins.functions.array.cast import cast
from plugins.functions.array.reshape import reshape
from plugins.functions.axes import kept_shape
from plugins.functions.math.sum import Sum
from plugins.functions.math.sum import sum as summed
from plugins.functions.namespace.linalg.singular_values import svdvals
from plugins.functions.namespace.plain import count_nonzero
from plugins.functions.namespace.reductions import max, min


class EuclideanNorm(FunctionNode):
    """The root of the sum of squares over axes; the gradient g x / y is taken as 0 where y is 0."""

    axis: Axis = None
    keepdims: bool = False
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=real(0.3, 3),
        settings={"axis": axes("x", many=True, none=True), "keepdims": choice(False, True)},
    )

    def compute(self, xp, x):
        return xp.sqrt(xp.sum(x * x, axis=self.axis, dtype=x.dtype, keepdims=self.keepdims))

    def gradient(self, xp, g, x, out):
        kept = kept_shape(x.shape, self.axis)
        ratio = g / xp.where(out == 0, 1.0, out)
        return x * xp.reshape(ratio, kept)


@checked
def vector_norm(
    x: Array, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2
) -> Variable:
    """The lengths of vectors along axes, by default of all elements as one.

    `ord` is p in the root of order p of the sum of |x|^p; inf and -inf give the greatest and the
    least size, 0 how many elements are not 0. At a vector of zeros the gradient is taken as 0 for
    the order 2.

    >>> import numpy as np
    >>> vector_norm(np.array([3.0, -4.0])), vector_norm(np.array([3.0, -4.0]), ord=1)
    (variable(5.), variable(7.))
    """
    if ord == 2:
        return EuclideanNorm.call(x, axis, keepdims)
    x = as_variable(x)
    if ord == 0:
        return cast(count_nonzero(x, axis=axis, keepdims=keepdims), x.dtype)
    sizes = abs(x)
    if abs(ord) == inf:
        return (max if ord > 0 else min)(sizes, axis=axis, keepdims=keepdims)
    if ord == 1:
        return Sum.call(sizes, axis, keepdims)
    return Sum.call(sizes**ord, axis, keepdims) ** (1 / ord)


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
