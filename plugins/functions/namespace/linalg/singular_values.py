"""Singular values and vectors."""

from __future__ import annotations

from typing import NamedTuple

from core import Domain, FunctionNode, Variable, as_variable, choice, real
from core.errors import NotDifferentiable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.namespace.linalg.eigenvalues import spread, upright


class SVD(FunctionNode):
    """a as U diag(s) Vh, s in descending order.

    The gradient is U (diag(gs) + (skew(U^T gU) * F) S + S (skew(V^T gV) * F)) Vh with skew(X) =
    X - X^T and F_ij = 1 / (s_j^2 - s_i^2), and, where a is not square, the parts that lie outside
    of the columns of U and V (Townsend, "Differentiating the singular value decomposition", 2016).
    Vectors of singular values that are equal have no derivative: it is NaN or infinite there.
    """

    full_matrices: bool = False
    output_names = ("u", "s", "vh")
    wide = True
    domain = Domain(
        "(...,n,m)->(...,n,k),(...,k),(...,k,m)",
        a=real(-0.25, 0.25, make=spread),
        settings={"full_matrices": choice(False)},
        empty=False,
    )

    def compute(self, xp, a):
        u, s, vh = xp.linalg.svd(a, full_matrices=self.full_matrices)
        k = s.shape[-1]
        signs = upright(xp, u[..., :, :k])
        turned = xp.matrix_transpose(signs) * vh[..., :k, :]
        if self.full_matrices:
            u = xp.concat([u[..., :, :k] * signs, u[..., :, k:]], axis=-1)
            return u, s, xp.concat([turned, vh[..., k:, :]], axis=-2)
        return u * signs, s, turned

    def gradient(self, xp, g, u, s, vh):
        gu, gs, gvh = g
        n, m, k = u.shape[-2], vh.shape[-1], s.shape[-1]
        if self.full_matrices and n != m:
            raise NotDifferentiable(
                f"svd: the vectors of matrices of {n} rows and {m} columns that go beyond the "
                "singular values are not unique, and have no derivative. Take full_matrices=False."
            )
        one = xp.eye(k, dtype=s.dtype, device=s.device)
        row, column = s[..., None, :], s[..., :, None]
        middle = one * (xp.zeros_like(s) if gs is None else gs)[..., None, :]
        inverse = 1.0 / (row * row - column * column + one) - one
        outside = None
        if gu is not None:
            inner = xp.matmul(xp.matrix_transpose(u), gu)
            middle = middle + (inner - xp.matrix_transpose(inner)) * inverse * row
            outside = xp.matmul((gu - xp.matmul(u, inner)) / row, vh) if n > k else None
        if gvh is not None:
            inner = xp.matmul(vh, xp.matrix_transpose(gvh))
            middle = middle + column * ((inner - xp.matrix_transpose(inner)) * inverse)
            if m > k:
                outside = xp.matmul(u / row, gvh - xp.matmul(xp.matrix_transpose(inner), vh))
        ga = xp.matmul(xp.matmul(u, middle), vh)
        return (ga if outside is None else ga + outside,)


class SVDResult(NamedTuple):
    """What `svd` gives."""

    U: Variable
    S: Variable
    Vh: Variable


@checked
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Matrices as products U diag(S) Vh, S in descending order, with orthonormal vectors.

    The element of greatest size in each column of U is positive. The vectors have no derivative
    where singular values are equal, nor, of matrices that are not square, with `full_matrices`.

    >>> import numpy as np
    >>> svd(np.array([[0.0, 2.0], [3.0, 0.0]])).S
    variable([3., 2.])
    """
    x = as_variable(x)
    found = SVDResult(*SVD.call(x, full_matrices=full_matrices))
    if full_matrices and x.requires_grad and x.shape[-1] != x.shape[-2]:
        # The values are differentiable anyway, with the vectors that belong to them.
        return found._replace(S=svdvals(x))
    return found


def svdvals(x: Array, /) -> Variable:
    """The singular values of matrices, in descending order.

    >>> import numpy as np
    >>> svdvals(np.array([[0.0, 2.0], [3.0, 0.0]]))
    variable([3., 2.])
    """
    return svd(x, full_matrices=False).S
