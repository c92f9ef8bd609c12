"""Eigenvalues and eigenvectors of symmetric matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

from core import Domain, FunctionNode, Variable, real
from core.typing import Array
from plugins.functions.math.cholesky import symmetric_part


def spread(xp: Any, values: Any) -> Any:
    """Matrices whose eigenvalues, or singular values, are far from each other."""
    n, m = values.shape[-2:]
    return values + 3.0 * xp.eye(n, m) * xp.arange(1.0, m + 1.0)


def upright(xp: Any, vectors: Any) -> Any:
    """1 or -1 for each column: what makes its element of the greatest size positive."""
    if vectors.shape[-2] == 0:
        return xp.sum(vectors, axis=-2, keepdims=True) + 1.0
    place = xp.argmax(xp.abs(vectors), axis=-2, keepdims=True)
    greatest = xp.take_along_axis(vectors, place, axis=-2)
    return xp.where(greatest < 0, -xp.ones_like(greatest), xp.ones_like(greatest))


class Eigh(FunctionNode):
    """The symmetric part of a as V diag(w) V^T, w in ascending order.

    The gradient is V (diag(gw) + (V^T gV) * F) V^T with F_ij = 1 / (w_j - w_i) off the diagonal,
    and 0 on it (Giles, "Collected matrix derivative results", 2008, section 3.1). Eigenvectors of
    eigenvalues that are equal have no derivative: it is NaN or infinite there.
    """

    output_names = ("w", "v")
    wide = True
    domain = Domain("(...,n,n)->(...,n),(...,n,n)", a=real(-0.25, 0.25, make=spread))

    def compute(self, xp, a):
        w, v = xp.linalg.eigh(symmetric_part(xp, a))
        return w, v * upright(xp, v)

    def gradient(self, xp, g, w, v):
        gw, gv = g
        one = xp.eye(w.shape[-1], dtype=w.dtype, device=w.device)
        turned = xp.matrix_transpose(v)
        middle = xp.zeros_like(v) if gw is None else one * gw[..., None, :]
        if gv is not None:
            apart = w[..., None, :] - w[..., :, None]
            middle = middle + xp.matmul(turned, gv) * (1.0 / (apart + one) - one)
        return (symmetric_part(xp, xp.matmul(xp.matmul(v, middle), turned)),)


class EighResult(NamedTuple):
    """What `eigh` gives."""

    eigenvalues: Variable
    eigenvectors: Variable


def eigh(x: Array, /) -> EighResult:
    """Eigenvalues, in ascending order, and eigenvectors, as columns, of symmetric matrices.

    The element of greatest size in each vector is positive. Of a matrix that is not symmetric the
    symmetric part counts. The vectors have no derivative where eigenvalues are equal.

    >>> import numpy as np
    >>> eigh(np.array([[3.0, 0.0], [0.0, 1.0]]))
    EighResult(eigenvalues=variable([1., 3.]), eigenvectors=variable([[0., 1.],
              [1., 0.]]))
    """
    return EighResult(*Eigh.call(x))


def eigvalsh(x: Array, /) -> Variable:
    """The eigenvalues of symmetric matrices, in ascending order.

    >>> import numpy as np
    >>> eigvalsh(np.array([[3.0, 0.0], [0.0, 1.0]]))
    variable([1., 3.])
    """
    return eigh(x).eigenvalues
