"""The Cholesky factorisation."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real
from plugins.functions.derived import function_of
from plugins.functions.math.inv import StackedInv, dominant


class Cholesky(FunctionNode):
    """Factorize a positive definite matrix: return the lower triangular L with L L^T = a.

    With P the lower triangle of L^T g, its diagonal halved, the gradient is the symmetric part of
    L^-T P L^-1 (Murray, "Differentiation of the Cholesky decomposition", 2016, eq. 9 and 10).

    A matrix that is not symmetric counts as its symmetric part, and so does the gradient.

    Args:
        a: (n, n), floating, symmetric and positive definite. Floats of 16 bits are computed in
            float32.

    Returns:
        (n, n), and the dtype of `a`; zeros above the diagonal.

    Raises:
        InvalidType: `a` is not a square matrix, or not floating.
        numpy.linalg.LinAlgError: On NumPy: `a` is not positive definite.

    >>> import core.functions as F, numpy as np
    >>> F.cholesky(np.array([[4, 2], [2, 5]], "f"))
    variable([[2., 0.],
              [1., 2.]], dtype=float32)
    """

    label = "cholesky"
    wide = True
    domain = Domain("(n,n)->(n,n)", a=real(-0.5, 0.5, make=dominant))

    def compute(self, xp, a):
        return xp.linalg.cholesky(symmetric_part(xp, a))

    def gradient(self, xp, g, out):
        product = xp.matmul(xp.matrix_transpose(out), g)
        halved = (xp.tril(product) + xp.tril(product, k=-1)) * 0.5
        inverse = StackedInv().evaluate(out)
        left = xp.matmul(xp.matrix_transpose(inverse), halved)
        return symmetric_part(xp, xp.matmul(left, inverse))


class StackedCholesky(Cholesky):
    """The factor of each matrix of a stack of any shape."""

    domain = Domain("(...,n,n)->(...,n,n)", a=real(-0.5, 0.5, make=dominant))


def symmetric_part(xp: Any, a: Any) -> Any:
    """Half of the sum of matrices and their transposes: themselves if they are symmetric."""
    return (a + xp.matrix_transpose(a)) * 0.5


cholesky = function_of(Cholesky, "cholesky")
