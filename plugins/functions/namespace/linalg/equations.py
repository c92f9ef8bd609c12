"""Systems of equations, and what elimination and triangles give."""

from __future__ import annotations

from typing import Any, NamedTuple

from core import Domain, FunctionNode, Variable, as_variable, real
from core.errors.kinds import checked
from core.ops.types.shapes import broadcast_shapes
from core.typing import Array
from plugins.functions.array.axis_order import matrix_transpose
from plugins.functions.array.broadcast import SumTo
from plugins.functions.array.reshape import reshape
from plugins.functions.math.cholesky import StackedCholesky
from plugins.functions.math.det import StackedDet
from plugins.functions.math.inv import StackedInv, dominant
from plugins.functions.math.product import product as matmul
from plugins.functions.namespace.creation import eye
from plugins.functions.namespace.operators import where, zeros_like
from plugins.functions.namespace.promotion import promoted


class Solve(FunctionNode):
    """y with a y = b; the gradients are h = a^-T g for b, and -h y^T for a."""

    wide = True
    domain = Domain(
        "(...,n,n),(...,n,k)->(...,n,k)", a=real(-0.5, 0.5, make=dominant), b=real(-2, 2)
    )

    def compute(self, xp, a, b):
        lead = broadcast_shapes([a.shape[:-2], b.shape[:-2]])  # not every library's solve does
        a = xp.broadcast_to(a, lead + a.shape[-2:])
        return xp.linalg.solve(a, xp.broadcast_to(b, lead + b.shape[-2:]))

    def gradient(self, xp, g, a, out, needs_grad):
        gb = Solve().evaluate(xp.matrix_transpose(a), g)
        ga = xp.matmul(-gb, xp.matrix_transpose(out)) if needs_grad[0] else None
        return (
            SumTo(self.input_shape(0)).evaluate(ga) if needs_grad[0] else None,
            SumTo(self.input_shape(1)).evaluate(gb) if needs_grad[1] else None,
        )


class Slogdet(FunctionNode):
    """The sign of the determinant, and the logarithm of its size, with the gradient g a^-T."""

    output_names = ("sign", "logabsdet")
    wide = True
    domain = Domain("(...,n,n)->(...),(...)", a=real(-0.5, 0.5, make=dominant))

    def compute(self, xp, a):
        sign, logabsdet = xp.linalg.slogdet(a)
        return sign, logabsdet

    def gradient(self, xp, g, a):
        size = xp.zeros_like(g[0]) if g[1] is None else g[1]
        inverse = StackedInv().evaluate(a)
        return (size[..., None, None] * xp.matrix_transpose(inverse),)


class SlogdetResult(NamedTuple):
    """What `slogdet` gives."""

    sign: Variable
    logabsdet: Variable


def solve(x1: Any, x2: Any, /) -> Variable:
    """The y with x1 y = x2, for square x1 that have an inverse, and a vector or matrices x2.

    >>> import numpy as np
    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    variable([1. , 0.5])
    """
    x1, x2 = map(as_variable, promoted(x1, x2))
    if x2.ndim != 1:
        return Solve.call(x1, x2)
    y = Solve.call(x1, reshape(x2, (*x2.shape, 1)))
    return reshape(y, y.shape[:-1])


def inv(x: Array, /) -> Variable:
    """The inverses of matrices.

    >>> import numpy as np
    >>> inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    variable([[0.5 , 0.  ],
              [0.  , 0.25]])
    """
    return StackedInv.call(x)


def det(x: Array, /) -> Variable:
    """The determinants of matrices, with first and second gradients where they are 0, too.

    >>> import numpy as np
    >>> det(np.array([[2.0, 0.0], [0.0, 4.0]]))
    variable(8.)
    """
    return StackedDet.call(x)


def slogdet(x: Array, /) -> SlogdetResult:
    """The signs of determinants and the logarithms of their sizes, which do not overflow.

    >>> import numpy as np
    >>> slogdet(-np.eye(3)).sign
    variable(-1.)
    """
    return SlogdetResult(*Slogdet.call(x))


@checked
def cholesky(x: Array, /, *, upper: bool = False) -> Variable:
    """The triangles L with L L^T = x, or their transposes, of positive definite matrices.

    Of a matrix that is not symmetric the symmetric part counts.

    >>> import numpy as np
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    variable([[2., 0.],
              [1., 2.]])
    """
    lower = StackedCholesky.call(x)
    return matrix_transpose(lower) if upper else lower


@checked
def matrix_power(x: Array, n: int, /) -> Variable:
    """Square matrices multiplied n times with themselves, their inverses for a negative n.

    >>> import numpy as np
    >>> matrix_power(np.array([[1.0, 1.0], [0.0, 1.0]]), 5)
    variable([[1., 5.],
              [0., 1.]])
    """
    x, n = as_variable(x), n.__index__()
    if n < 0:
        return matrix_power(inv(x), -n)
    if n == 0:
        nothing = zeros_like(x)
        nothing = matmul(nothing, nothing)  # which refuses what is not square as elsewhere
        one = nothing + eye(x.shape[-1], dtype=x.dtype, device=x.device)
        return where(nothing == 0, one, x)  # one everywhere, and x has a gradient: 0
    half = matrix_power(x, n // 2) if n > 1 else None
    if half is None:
        return x
    return matmul(matmul(half, half), x) if n % 2 else matmul(half, half)
