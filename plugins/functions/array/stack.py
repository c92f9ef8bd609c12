"""Arrays joined along a new axis."""

from __future__ import annotations

from collections.abc import Iterable

from core import Domain, FunctionNode, Variable, anything, axes
from core.errors.removed import removed
from core.typing import Array
from plugins.functions.array.concat import several


class Stack(FunctionNode):
    """The inputs side by side along a new axis; each gets its part of the gradient."""

    axis: int = 0
    domain = Domain("(...)*->(...b)", xs=anything(), settings={"axis": axes("xs", beyond=1)})

    def compute(self, xp, *xs):
        return xp.stack(xs, axis=self.axis)

    def gradient(self, xp, g, needs_grad):
        before = (slice(None),) * (self.axis % g.ndim)
        return tuple(
            [g[(*before, i, ...)] if needed else None for i, needed in enumerate(needs_grad)]
        )


@removed()
def stack(xs: Iterable[Array], axis: int = 0) -> Variable:
    """Join arrays along a new axis.

    Args:
        xs: An iterable of at least one array or Variable, of one dtype and one shape.
        axis: Where the new axis comes to stand.

    Returns:
        The dtype of `xs`.

    Raises:
        InvalidType: Shapes or dtypes do not fit, or the axis is out of range.
        TypeError: `xs` is empty.

    >>> import core.functions as F, numpy as np
    >>> F.stack([np.zeros(2, "f"), np.ones(2, "f")], axis=1)
    variable([[0., 1.],
              [0., 1.]], dtype=float32)
    """
    return Stack.call(*several("stack", xs), axis=axis)
