"""The matrix product."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, real
from core.typing import Array
from plugins.functions.array.broadcast import SumTo
from plugins.functions.array.reshape import reshape


class MatMul(FunctionNode):
    """The matrix product over the last two axes; leading axes broadcast."""

    wide = promotes = True
    domain = Domain("(...,n,k),(...,k,m)->(...,n,m)", a=real(-2, 2), b=real(-2, 2, mixed=True))

    def compute(self, xp, a, b):
        return xp.matmul(a, b)

    def gradient_a(self, xp, g, b):
        return _summed(xp.matmul(g, xp.matrix_transpose(b)), self.input_shape(0))

    def gradient_b(self, xp, g, a):
        return _summed(xp.matmul(xp.matrix_transpose(a), g), self.input_shape(1))


class MatVec(FunctionNode):
    """The product of a vector with rows: of matrices, or of one, another vector."""

    label = "MatMul"
    wide = promotes = True
    domain = Domain("(...,k),(k)->(...)", a=real(-2, 2), b=real(-2, 2, mixed=True))

    def compute(self, xp, a, b):
        return xp.matmul(a, b)

    def gradient_a(self, xp, g, b):
        return xp.expand_dims(g, axis=-1) * b

    def gradient_b(self, xp, g, a):
        flat = xp.reshape(g, (-1,))
        return xp.matmul(flat, xp.reshape(a, (flat.shape[0], a.shape[-1])))


def product(a: Array, b: Array) -> Variable:
    """The matrix product, vectors being rows on the left and columns on the right."""
    a, b = as_variable(a), as_variable(b)
    if b.ndim == 1:
        return MatVec.call(a, b)
    if a.ndim != 1:
        return MatMul.call(a, b)
    y = MatMul.call(reshape(a, (1, a.size)), b)
    return reshape(y, (*y.shape[:-2], y.shape[-1]))


def _summed(g: Any, shape: tuple[int, ...]) -> Any:
    return g if g.shape == shape else SumTo(shape).evaluate(g)
