"""The same elements in another arrangement."""

from __future__ import annotations

from math import prod

from core.ops.function_node import FunctionNode
from core.ops.types.domain import Domain
from core.ops.types.values import anything, choice
from core.ops.types.values import axes as axes_setting


class Reshape(FunctionNode):
    """Reshape x, whose elements are read in row-major order."""

    shape: tuple[int, ...]
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"shape": choice(lambda shapes: _reshapings(shapes["x"]))},
        valid=(
            "-1 in shape or x.size == prod(shape)",
            "-1 not in shape or prod(shape) != 0",
            "-1 not in shape or x.size % -prod(shape) == 0",
        ),
    )

    def compute(self, xp, x):
        return xp.reshape(x, self.shape)

    def gradient(self, xp, g):
        return xp.reshape(g, self.input_shape(0))


def _reshapings(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    size = prod(shape)
    return [(size,), (1, size), (-1, 1) if size else (size, 1)]


class Transpose(FunctionNode):
    """The axes in another order: axis i of the result is axis `axes[i]` of x; None reverses."""

    axes: tuple[int, ...] | None = None
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"axes": axes_setting("x", permutation=True, none=True)},
    )

    def order(self, ndim: int) -> tuple[int, ...]:
        """The permutation, counted from the front."""
        if self.axes is None:
            return tuple(range(ndim - 1, -1, -1))
        return tuple([a % ndim for a in self.axes])

    def compute(self, xp, x):
        return xp.permute_dims(x, self.order(x.ndim))

    def gradient(self, xp, g):
        order = self.order(g.ndim)
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return xp.permute_dims(g, tuple(inverse))
