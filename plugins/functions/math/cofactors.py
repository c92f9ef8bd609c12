"""Cofactors: the derivative of a determinant, of singular matrices too."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real
from plugins.functions.array.broadcast import SumTo
from plugins.functions.math.cumulative import Cumprod
from plugins.functions.math.inv import StackedInv, dominant

_SINGULAR = ValueError, RuntimeError  # that NumPy and PyTorch derive theirs from


class Cofactors(FunctionNode):
    """det(a) a^-T, which is there where a has no inverse, too.

    A library that looks at no values (CuPy) gives NaN there.

    With a = U diag(s) V^T it is det(U) det(V) U diag(p) V^T, p_i the product of all s but s_i.
    """

    wide = True
    domain = Domain("(...,n,n)->(...,n,n)", a=real(-0.5, 0.5, make=dominant))

    def compute(self, xp, a):
        try:  # which is much faster, and as precise where it does not fail
            inverse = xp.linalg.inv(a)
        except _SINGULAR:
            pass
        else:
            return xp.linalg.det(a)[..., None, None] * xp.matrix_transpose(inverse)
        u, s, vh = xp.linalg.svd(a, full_matrices=False)
        before, after = _products(xp, s)
        return _sign(xp, u, vh) * xp.matmul(u * (before * after)[..., None, :], vh)

    def gradient(self, xp, g, a):
        return CofactorsSlope().evaluate(a, g)


class CofactorsSlope(FunctionNode):
    """The gradient of <Cofactors(a), b>, linear in b; in it the same two may be exchanged.

    In the basis of singular vectors b is B, and the result det(U) det(V) (diag(P diag(B)) -
    P * B^T), P_ij the product of all s but s_i and s_j, and 0 where i = j.
    """

    wide = True
    domain = Domain(
        "(...,n,n),(...,n,n)->(...,n,n)", a=real(-0.5, 0.5, make=dominant), b=real(-2, 2)
    )

    def compute(self, xp, a, b):
        if not a.shape[-1]:
            return a * b
        u, s, vh = xp.linalg.svd(a, full_matrices=False)
        left, right = xp.matrix_transpose(u), xp.matrix_transpose(vh)
        turned = xp.matmul(xp.matmul(left, b), right)
        products = _products_of_pairs(xp, s)
        one = xp.eye(s.shape[-1], dtype=s.dtype, device=s.device)
        diagonal = xp.sum(products * xp.sum(turned * one, axis=-2)[..., None, :], axis=-1)
        inner = one * diagonal[..., None, :] - products * xp.matrix_transpose(turned)
        return _sign(xp, u, vh) * xp.matmul(xp.matmul(u, inner), vh)

    def gradient_a(self, xp, g, a, b):
        inverse = StackedInv().evaluate(a)
        x, y = xp.matmul(inverse, b), xp.matmul(inverse, g)
        both = xp.matmul(x, y)
        of_x, of_y, of_both = (_trace(xp, m) for m in (x, y, both))
        one = xp.eye(a.shape[-1], dtype=a.dtype, device=a.device)
        inner = (of_x * of_y - of_both) * one - of_x * y - of_y * x + both + xp.matmul(y, x)
        ga = xp.matmul(Cofactors().evaluate(a), xp.matrix_transpose(inner))
        return SumTo(self.input_shape(0)).evaluate(ga)

    def gradient_b(self, xp, g, a):
        return SumTo(self.input_shape(1)).evaluate(CofactorsSlope().evaluate(a, g))


def _trace(xp: Any, a: Any) -> Any:
    one = xp.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    return xp.sum(a * one, axis=(-2, -1), keepdims=True)


def _sign(xp: Any, u: Any, vh: Any) -> Any:
    return xp.sign(xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]


def _running(xp: Any, x: Any) -> Any:
    cumprod: Any = Cumprod(-1)
    return cumprod.compute(xp, x)


def _products(xp: Any, s: Any) -> tuple[Any, Any]:
    """For each element the products of those before it, and of those after it."""
    one = xp.ones_like(s)[..., :1]
    before = _running(xp, xp.concat([one, s[..., :-1]], axis=-1))
    after = xp.flip(_running(xp, xp.flip(xp.concat([s[..., 1:], one], axis=-1), axis=-1)), axis=-1)
    return before, after


def _products_of_pairs(xp: Any, s: Any) -> Any:
    """For each two elements the product of all others; 0 for one and itself."""
    before, after = _products(xp, s)
    over = xp.triu(xp.ones_like(s[..., :, None] * s[..., None, :]), k=1)
    factors = xp.where(over > 0, s[..., None, :], xp.ones_like(over))
    one = xp.ones_like(factors[..., :1])
    between = _running(xp, xp.concat([one, factors[..., :-1]], axis=-1))
    half = before[..., :, None] * between * after[..., None, :] * over
    return half + xp.matrix_transpose(half)
