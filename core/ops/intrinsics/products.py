"""The matrix product."""

from __future__ import annotations

from typing import Any

from core.ops.function_node import FunctionNode
from core.ops.intrinsics.broadcasting import SumTo
from core.ops.types.domain import Domain
from core.ops.types.values import real


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


def _summed(g: Any, shape: tuple[int, ...]) -> Any:
    return g if g.shape == shape else SumTo(shape).evaluate(g)
