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


def product(a: Array, b: Array) -> Variable:
    """The matrix product, vectors being rows on the left and columns on the right."""
    a, b = as_variable(a), as_variable(b)
    if a.ndim > 1 and b.ndim > 1:
        return MatMul.call(a, b)
    rows = reshape(a, (1, *a.shape)) if a.ndim == 1 else a
    columns = reshape(b, (*b.shape, 1)) if b.ndim == 1 else b
    y = MatMul.call(rows, columns)
    *lead, n, m = y.shape
    return reshape(y, (*lead, *(n,) * (a.ndim > 1), *(m,) * (b.ndim > 1)))


def _summed(g: Any, shape: tuple[int, ...]) -> Any:
    return g if g.shape == shape else SumTo(shape).evaluate(g)
