"""Summing over axes along which arrays were repeated: the adjoint of broadcasting."""

from __future__ import annotations

from typing import Any

from core.ops.elementwise import Elementwise
from core.ops.function_node import FunctionNode
from core.ops.types.domain import Domain
from core.ops.types.values import anything, choice


class SumTo(FunctionNode):
    """x summed over the axes along which a shape was repeated: the adjoint of broadcasting."""

    shape: tuple[int, ...]
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"shape": choice(lambda shapes: _reduced(shapes["x"]))},
    )

    def compute(self, xp, x):
        lead = x.ndim - len(self.shape)
        axes = [
            i for i in range(x.ndim) if i < lead or (self.shape[i - lead] == 1 and x.shape[i] != 1)
        ]
        if axes:
            x = xp.sum(x, axis=tuple(axes), dtype=x.dtype, keepdims=True)
        return xp.reshape(x, self.shape)

    def gradient(self, xp, g):
        lead = len(self.input_shape(0)) - len(self.shape)
        return xp.broadcast_to(xp.reshape(g, (1,) * lead + self.shape), self.input_shape(0))


def unbroadcast(f: Elementwise, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """Gradients, on arrays or on Variables, each summed down to the shape of its input."""
    return tuple(
        [
            g if g is None or g.shape == shape else SumTo(shape).evaluate(g)
            for g, shape in zip(gradients, f.shapes, strict=True)
        ]
    )


def _reduced(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [shape, shape[1:], tuple([1 for _ in shape]), shape[:1] and (1, *shape[1:])]
