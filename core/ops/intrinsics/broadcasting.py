"""Repeating along axes and summing over them: each the adjoint of the other."""

from __future__ import annotations

from typing import Any

from core.errors import InvalidType
from core.ops.elementwise import Elementwise
from core.ops.function_node import FunctionNode
from core.ops.types.domain import Domain
from core.ops.types.shapes import as_axes
from core.ops.types.values import anything, choice
from core.ops.types.values import axes as axes_setting
from core.typing import Axes, Axis


def axes_of(axis: Axes, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` (a number, several, or None for all) names, counted from the front."""
    if axis is None:
        return tuple(range(ndim))
    return tuple([a % ndim for a in as_axes(axis)])


def _broadcasts(f: Any, x: Any) -> None:
    own = f.shape[len(f.shape) - len(x.shape) :]
    if any([n not in (1, m) for n, m in zip(x.shape, own, strict=True)]):
        raise InvalidType(f"shapes that broadcast: x.shape to {f.shape}", f"{x.shape}")


class BroadcastTo(FunctionNode):
    """x repeated along new axes and along those of length 1, up to a shape."""

    shape: tuple[int, ...]
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"shape": choice(lambda shapes: _enlarged(shapes["x"]))},
        valid=("x.ndim <= len(shape)", _broadcasts),
    )

    def compute(self, xp, x):
        return xp.broadcast_to(x, self.shape)

    def gradient(self, xp, g):
        return SumTo(self.input_shape(0)).evaluate(g)


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


class Sum(FunctionNode):
    """The sum over some axes; 16-bit floats are summed in float32."""

    axis: Axis = None
    keepdims: bool = False
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"axis": axes_setting("x", many=True, none=True), "keepdims": choice(False, True)},
    )

    def compute(self, xp, x):
        return xp.sum(x, axis=self.axis, dtype=x.dtype, keepdims=self.keepdims)

    def gradient(self, xp, g):
        shape = self.input_shape(0)
        if not self.keepdims and g.ndim:
            kept = set(axes_of(self.axis, len(shape)))
            g = xp.reshape(g, tuple([1 if i in kept else n for i, n in enumerate(shape)]))
        return xp.broadcast_to(g, shape)


def _enlarged(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    widened = tuple([3 if n == 1 else n for n in shape])
    return [shape, widened, (2, *widened)]


def _reduced(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [shape, shape[1:], tuple([1 for _ in shape]), shape[:1] and (1, *shape[1:])]
