"""Whole arrays repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core import Domain, FunctionNode, Variable, anything, choice
from core.errors.kinds import checked
from core.typing import Array


class Tile(FunctionNode):
    """x repeated along its axes; the gradients of the repetitions are summed."""

    reps: int | tuple[int, ...]
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"reps": choice((), (1,), (2,), (3, 2), (2, 1, 2), (2, 0))},
    )

    def prepare(self) -> None:
        self.reps = (self.reps,) if isinstance(self.reps, int) else self.reps
        if any([n < 0 for n in self.reps]):
            raise ValueError(f"tile: expected reps of at least 0, got {self.reps}")

    def compute(self, xp, x):
        return xp.tile(x, self.reps)

    def gradient(self: Any, xp, g):
        shape = self.input_shape(0)
        ndim = max(len(shape), len(self.reps))
        reps = (1,) * (ndim - len(self.reps)) + self.reps
        sizes = (1,) * (ndim - len(shape)) + shape
        pairs = tuple([n for pair in zip(reps, sizes, strict=True) for n in pair])
        return xp.reshape(xp.sum(xp.reshape(g, pairs), axis=tuple(range(0, 2 * ndim, 2))), shape)


@checked
def tile(x: Array, reps: int | Sequence[int]) -> Variable:
    """Repeat a whole array along its axes.

    Args:
        x: Of any shape and dtype.
        reps: How often along each axis, the last ones where there are fewer numbers than axes; more
            numbers make new axes in front. A single int is for the last axis.

    Returns:
        The dtype of `x`.

    Raises:
        ValueError: A number is negative.

    >>> import core.functions as F, numpy as np
    >>> F.tile(np.array([1, 2], "f"), (2, 1))
    variable([[1., 2.],
              [1., 2.]], dtype=float32)
    """
    return Tile.call(x, reps)
