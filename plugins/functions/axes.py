"""Axes as functions receive them, and shapes with some of them reduced."""

from __future__ import annotations

from core.errors import InvalidType
from core.ops.types.shapes import as_axes
from core.typing import Axes, Shape


def axes_of(axis: Axes, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` (a number, several, or None for all) names, counted from the front."""
    if axis is None:
        return tuple(range(ndim))
    return tuple([a % ndim for a in as_axes(axis)])


def axes_within(name: str, axis: Axes, ndim: int) -> tuple[int, ...]:
    """The axes in order, counted from the front; the function `name` refuses what x has not.

    >>> axes_within("layer_normalization", (-1, 0), 3)
    (0, 2)
    """
    axes = sorted([a + ndim if a < 0 else a for a in as_axes(axis)])
    if axes and not 0 <= axes[0] <= axes[-1] < ndim:
        raise InvalidType(f"axes of x, of which there are {ndim}", f"{axis}", operation=name)
    if len(set(axes)) < len(axes):
        raise InvalidType("axes that differ", f"{axis}", operation=name)
    return tuple(axes)


def kept_shape(shape: Shape, axis: Axes) -> Shape:
    """The shape with length 1 along the axes: that of a reduction that keeps its axes.

    >>> kept_shape((2, 3, 4), (0, -1))
    (1, 3, 1)
    """
    axes = axes_of(axis, len(shape))
    return tuple([1 if i in axes else n for i, n in enumerate(shape)])


def count_along(shape: Shape, axis: Axes) -> int:
    """How many elements each place of a reduction takes.

    >>> count_along((2, 3, 4), (0, -1))
    8
    """
    count = 1
    for a in axes_of(axis, len(shape)):
        count *= shape[a]
    return count
