"""Operations on corresponding elements."""

from __future__ import annotations

from typing import Any, ClassVar

from core.graph import array_api
from core.ops.function_node import FunctionNode


class Elementwise(FunctionNode):
    """An operation on corresponding elements: inputs broadcast and have one dtype, the result's.

    A result of another dtype (a comparison) sets `keeps_dtype = False`. With `with_scalar` a number
    as the second input takes that operation instead, whose setting `operand` it is, and with
    `from_scalar` one on the left of an operator; beside integers an operand has to be whole.
    """

    _elementwise = True
    keeps_dtype = True
    with_scalar: ClassVar[Any] = None
    from_scalar: ClassVar[Any] = None
    operand: ClassVar[str | None] = None

    def _unbroadcast(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Gradients, on arrays or on Variables, each summed down to the shape of its input."""
        return tuple(
            [
                g if g is None or g.shape == shape else array_api.functions.SumTo(shape).evaluate(g)
                for g, shape in zip(gradients, self.shapes, strict=True)
            ]
        )
