"""Inverses of matrices that have none, and how many of their rows are independent."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, as_array, as_variable, real
from core.graph.fitting import is_array
from core.graph.variable import wrap
from core.typing import Array
from plugins.functions.array.cast import cast
from plugins.functions.namespace.linalg.eigenvalues import spread
from plugins.functions.namespace.linalg.singular_values import svdvals
from plugins.functions.namespace.plain import count_nonzero


class Pinv(FunctionNode):
    """P, the inverse in the sense of Moore and Penrose; singular values below rtol s_1 count as 0.

    With g the gradient of P, that of a is -P^T g P^T + (1 - a P) g^T P P^T + P^T P g^T (1 - P a)
    (Golub and Pereyra, "The differentiation of pseudo-inverses", 1973): where the rank is constant.
    """

    rtol: float | None = None
    wide = True
    domain = Domain("(...,n,m)->(...,m,n)", a=real(-0.5, 0.5, make=spread))

    def compute(self, xp, a):
        rtol = _precision(xp, a) if self.rtol is None else self.rtol
        if 0 in a.shape:
            return xp.zeros_like(xp.matrix_transpose(a))
        u, s, vh = xp.linalg.svd(a, full_matrices=False)
        counts = s > rtol * xp.max(s, axis=-1, keepdims=True)
        inverse = xp.where(counts, 1.0 / xp.where(counts, s, 1.0), 0.0)
        return xp.matmul(xp.matrix_transpose(vh), inverse[..., :, None] * xp.matrix_transpose(u))

    def gradient(self, xp, g, a, out):
        turned, back = xp.matrix_transpose(out), xp.matrix_transpose(g)
        direct = xp.matmul(xp.matmul(turned, g), turned)
        rows = xp.matmul(xp.matmul(back, out), turned)
        columns = xp.matmul(xp.matmul(turned, out), back)
        rows = rows - xp.matmul(a, xp.matmul(out, rows))
        return rows + columns - xp.matmul(xp.matmul(columns, out), a) - direct


def _precision(xp: Any, a: Any) -> float:
    """The size below which a singular value is rounding, relative to the greatest."""
    return max(a.shape[-2:]) * float(xp.finfo(a.dtype).eps)


def pinv(x: Array, /, *, rtol: float | None = None) -> Variable:
    """The inverses of matrices in the sense of Moore and Penrose.

    Singular values below `rtol`, a number, times the greatest count as 0; by default it is the
    precision of the dtype times the longer side. The gradient is that at constant rank.

    >>> import numpy as np
    >>> pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
    variable([[0.5, 0. ],
              [0. , 0. ]])
    """
    return Pinv.call(x, rtol=rtol)


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Variable:
    """How many singular values of each matrix are above `rtol` times the greatest; no gradient.

    >>> import numpy as np
    >>> matrix_rank(np.ones((2, 3)))
    variable(1)
    """
    x = as_variable(x)
    s = svdvals(wrap(x.array))
    least = _precision(x.xp, x) if rtol is None else rtol
    if is_array(as_array(least)):
        least = cast(as_variable(least), x.dtype)[..., None]
    return count_nonzero(s > s[..., :1] * least, axis=-1)  # the first is the greatest, if any
