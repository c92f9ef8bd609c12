"""Orthogonal columns and a triangle."""

from __future__ import annotations

from typing import Any, NamedTuple

from core import Domain, FunctionNode, Variable, choice, real
from core.errors import NotDifferentiable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.namespace.linalg.eigenvalues import spread
from plugins.functions.namespace.linalg.equations import Solve


class QR(FunctionNode):
    """a as Q R with orthonormal columns and an upper triangle whose diagonal is not negative.

    With M = R gR^T - gQ^T Q, and L its lower triangle mirrored upwards, the gradient of a matrix
    that is not wider than high is (gQ + Q L) R^-T (Walter and Lehmann, "Algorithmic differentiation
    of linear algebra functions", 2010). The columns that a wide matrix has beyond its height are Q
    times those of R, which adds their part.
    """

    mode: str = "reduced"
    output_names = ("q", "r")
    wide = True
    domain = Domain(
        "(...,n,m)->(...,n,k),(...,k,m)",
        a=real(-0.5, 0.5, make=spread),
        settings={"mode": choice("reduced")},
        empty=False,
    )

    def compute(self, xp, a):
        q, r = xp.linalg.qr(a, mode=self.mode)
        signs = _signs(xp, r)
        if self.mode == "complete" and a.shape[-2] > a.shape[-1]:
            rest = xp.ones_like(q[..., 0, a.shape[-1] :])
            signs = xp.concat([signs, rest], axis=-1)
        return q * signs[..., None, :], xp.triu(r * signs[..., :, None])

    def gradient(self, xp, g, q, r):
        gq, gr = g
        n, m = self.input_shape(0)[-2:]
        if self.mode == "complete" and n > m:
            raise NotDifferentiable(
                f"qr: mode='complete' has no derivative for matrices of {n} rows and {m} columns, "
                "as the columns of Q beyond the others are not unique. Take mode='reduced'."
            )
        gq = xp.zeros_like(q) if gq is None else gq
        gr = xp.zeros_like(r) if gr is None else gr
        if n >= m:
            return (_of_high(xp, gq, gr, q, r),)
        first, beyond, g_beyond = r[..., :, :n], r[..., :, n:], gr[..., :, n:]
        gq = gq + xp.matmul(xp.matmul(q, beyond), xp.matrix_transpose(g_beyond))
        ga = _of_high(xp, gq, gr[..., :, :n], q, first)
        return (xp.concat([ga, xp.matmul(q, g_beyond)], axis=-1),)


def _signs(xp: Any, r: Any) -> Any:
    k = min(r.shape[-2:])
    diagonal = xp.sum(r[..., :k, :k] * xp.eye(k, dtype=r.dtype, device=r.device), axis=-1)
    return xp.where(diagonal < 0, -xp.ones_like(diagonal), xp.ones_like(diagonal))


def _of_high(xp: Any, gq: Any, gr: Any, q: Any, r: Any) -> Any:
    inner = xp.matmul(r, xp.matrix_transpose(gr)) - xp.matmul(xp.matrix_transpose(gq), q)
    mirrored = xp.tril(inner) + xp.matrix_transpose(xp.tril(inner, k=-1))
    turned = xp.matrix_transpose(gq + xp.matmul(q, mirrored))
    return xp.matrix_transpose(Solve().evaluate(r, turned))


class QRResult(NamedTuple):
    """What `qr` gives."""

    Q: Variable
    R: Variable


@checked
def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """Matrices as products of orthonormal columns and upper triangles with diagonals >= 0.

    `mode` says how many columns Q has: 'reduced' as many as the triangle has rows at least,
    'complete' as many as x has rows; the latter has no derivative if x has fewer columns.

    >>> import numpy as np
    >>> qr(np.array([[0.0, 2.0], [3.0, 4.0]])).R
    variable([[3., 4.],
              [0., 2.]])
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: expected mode to be 'reduced' or 'complete', got {mode!r}")
    return QRResult(*QR.call(x, mode=mode))
