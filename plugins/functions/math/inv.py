"""Inverses of matrices."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real
from plugins.functions.derived import function_of


def dominant(xp: Any, values: Any) -> Any:
    """Matrices with a diagonal that outweighs the rest, so that they have an inverse."""
    return values + 3 * xp.eye(values.shape[-1])


class Inv(FunctionNode):
    """Compute the inverse of a matrix.

    With y the result, the gradient is -y^T g y^T.

    Args:
        a: (n, n), floating. Floats of 16 bits are computed in float32.

    Returns:
        (n, n), and the dtype of `a`.

    Raises:
        InvalidType: `a` is not a square matrix, or not floating.
        numpy.linalg.LinAlgError: On NumPy: `a` has no inverse.

    >>> import core.functions as F, numpy as np
    >>> F.inv(np.array([[2, 0], [0, 4]], "f"))
    variable([[0.5 , 0.  ],
              [0.  , 0.25]], dtype=float32)
    """

    wide = True
    domain = Domain("(n,n)->(n,n)", a=real(-0.5, 0.5, make=dominant))

    def compute(self, xp, a):
        return xp.linalg.inv(a)

    def gradient(self, xp, g, out):
        turned = xp.matrix_transpose(out)
        return -xp.matmul(xp.matmul(turned, g), turned)


class BatchInv(Inv):
    """Compute the inverses of a batch of matrices.

    Args:
        a: (batch, n, n), floating. Floats of 16 bits are computed in float32.

    Returns:
        (batch, n, n), and the dtype of `a`.

    Raises:
        InvalidType: `a` is not a batch of square matrices, or not floating.
        numpy.linalg.LinAlgError: On NumPy: a matrix has no inverse.

    >>> import core.functions as F, numpy as np
    >>> F.batch_inv(np.array([[[2]], [[4]]], "f"))
    variable([[[0.5 ]],
    <BLANKLINE>
              [[0.25]]], dtype=float32)
    """

    domain = Domain("(b,n,n)->(b,n,n)", a=real(-0.5, 0.5, make=dominant))


class StackedInv(Inv):
    """The inverse of each matrix of a stack of any shape."""

    domain = Domain("(...,n,n)->(...,n,n)", a=real(-0.5, 0.5, make=dominant))


inv = function_of(Inv, "inv")


batch_inv = function_of(BatchInv, "batch_inv")
