"""Determinants."""

from __future__ import annotations

from core import Domain, FunctionNode, Variable, as_variable, real
from core.errors import InvalidType
from core.typing import Array
from plugins.functions.derived import function_of
from plugins.functions.math.cofactors import Cofactors
from plugins.functions.math.inv import dominant


class BatchDet(FunctionNode):
    """Compute the determinants of a batch of matrices.

    With y the determinant, the gradient is g y a^-T, which is there where y is 0, too: it has the
    cofactors of `a` (on CUDA NaN). So is the second one; from the third on `a` needs an inverse.

    Args:
        a: (batch, n, n), floating. Floats of 16 bits are computed in float32.

    Returns:
        (batch,), and the dtype of `a`.

    Raises:
        InvalidType: `a` is not a batch of square matrices, or not floating.

    >>> import core.functions as F, numpy as np
    >>> F.batch_det(np.array([[[2]], [[4]]], "f"))
    variable([2., 4.], dtype=float32)
    """

    label = "det"
    wide = True
    domain = Domain("(b,n,n)->(b)", a=real(-0.5, 0.5, make=dominant))

    def compute(self, xp, a):
        return xp.linalg.det(a)

    def gradient(self, xp, g, a):
        return g[..., None, None] * Cofactors().evaluate(a)


class StackedDet(BatchDet):
    """The determinant of each matrix of a stack of any shape."""

    domain = Domain("(...,n,n)->(...)", a=real(-0.5, 0.5, make=dominant))


def det(a: Array) -> Variable:
    """Compute the determinant of a matrix.

    The gradient has the cofactors of `a`, and is there where the determinant is 0, too (on CUDA it
    is NaN). So is the second one; from the third on `a` needs an inverse.

    Args:
        a: (n, n), floating. Floats of 16 bits are computed in float32.

    Returns:
        No axes, and the dtype of `a`.

    Raises:
        InvalidType: `a` is not a square matrix, or not floating.

    >>> import core.functions as F, numpy as np
    >>> F.det(np.array([[2, 0], [0, 4]], "f"))
    variable(8., dtype=float32)
    """
    a = as_variable(a)
    if a.ndim != 2:
        raise InvalidType("a.ndim == 2", f"{a.ndim} != 2", operation="det")
    return BatchDet.call(a.reshape((1, *a.shape))).reshape(())


batch_det = function_of(BatchDet, "batch_det")
