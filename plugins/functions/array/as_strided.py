"""Views with strides."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_array, choice
from core.arrays.scatter import native_place
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.take import AddTaken


def _inside(f: Any, x: Any) -> None:
    ways = [s * (n - 1) for n, s in zip(f.shape, f.strides, strict=True)]  # to the ends of the axes
    lowest = f.offset + sum([way for way in ways if way < 0])
    highest = f.offset + sum([way for way in ways if way > 0])
    size = prod(x.shape)
    if 0 not in f.shape and not 0 <= lowest <= highest < size:
        raise InvalidType(f"elements among 0 to {size - 1}", f"elements {lowest} to {highest}")


class AsStrided(FunctionNode):
    """x's elements at regular steps, counted in row-major order; gradients are added up there."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    label = "as_strided"
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"shape": choice((2, 3)), "strides": choice(lambda shapes: _some(shapes["x"]))},
        empty=False,
        valid=_inside,
    )

    def compute(self, xp, x):
        places = self._places(xp, x)
        return xp.reshape(xp.take(xp.reshape(x, (-1,)), places, axis=0), self.shape)

    def gradient(self, xp, g):
        shape = self.input_shape(0)
        places = self._places(self.backend.xp, as_array(g))
        g = xp.reshape(g, (prod(self.shape),))
        return xp.reshape(AddTaken(0, (prod(shape),)).evaluate(g, places), shape)

    def _places(self, xp: Any, beside: Any) -> Any:
        device, ndim = native_place(beside), len(self.shape)
        places = xp.full((1,), self.offset, dtype=xp.int64, device=device)
        for axis, (n, step) in enumerate(zip(self.shape, self.strides, strict=True), 1):
            steps = xp.arange(n, dtype=xp.int64, device=device) * step
            places = xp.reshape(steps, (n, *(1,) * (ndim - axis))) + places
        return xp.reshape(places, (-1,))


def _some(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [s for s in ((0, 0), (1, 0), (1, 1), (3, 1)) if s[0] + 2 * s[1] < prod(shape)]


@checked
def as_strided(
    x: Array, shape: Sequence[int], strides: Sequence[int], storage_offset: int | None = None
) -> Variable:
    """Take elements at regular strides through an array; one may be taken several times.

    The element at (i, j, ...) of the result is number storage_offset + i s_0 + j s_1 + ... of `x`,
    counted in row-major order, however the array lies in memory. It is a copy, not a view.

    Args:
        x: Of any shape and dtype.
        shape: The shape of the result.
        strides: The steps s_0, s_1, ... in elements (not bytes), one an axis of the result.
        storage_offset: The number of the first element; None is 0.

    Returns:
        `shape`, and the dtype of `x`.

    Raises:
        InvalidType: The steps lead out of the array.
        ValueError: There are more or fewer strides than axes.

    >>> import core.functions as F, numpy as np
    >>> F.as_strided(np.arange(4, dtype="f"), (3, 2), (1, 1))
    variable([[0., 1.],
              [1., 2.],
              [2., 3.]], dtype=float32)
    """
    if len(shape) != len(strides):
        raise ValueError(f"as_strided: expected {len(shape)} strides, one an axis; got {strides}")
    return AsStrided.call(x, tuple(shape), tuple(strides), storage_offset or 0)
