"""Permutations of axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_variable, choice
from core import axes as axes_setting
from core.errors import InvalidType
from core.errors.kinds import checked
from core.errors.removed import removed
from core.errors.scalars import is_whole
from core.typing import Array
from plugins.functions.axes import axes_of
from plugins.functions.derived import function_of


class _Reordered(FunctionNode):
    """x with its axes in the order that the settings give; the gradient is permuted back."""

    def compute(self: Any, xp, x):
        return xp.permute_dims(x, self.order(x.ndim))

    def gradient(self: Any, xp, g):
        order = self.order(g.ndim)
        return xp.permute_dims(g, tuple(sorted(range(g.ndim), key=order.__getitem__)))


class Transpose(_Reordered):
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


class Swapaxes(_Reordered):
    """Swap two axes.

    Args:
        x: Of any shape and dtype that has the axes.
        axis1: One axis.
        axis2: The other one.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.swapaxes(np.zeros((2, 3, 4), "f"), 0, -1).shape
    (4, 3, 2)
    """

    axis1: int
    axis2: int
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"axis1": axes_setting("x"), "axis2": axes_setting("x")},
    )

    def order(self, ndim: int) -> tuple[int, ...]:
        """The permutation, counted from the front."""
        order = list(range(ndim))
        first, second = axes_of((self.axis1, self.axis2), ndim)
        order[first], order[second] = second, first
        return tuple(order)


class Rollaxis(_Reordered):
    """Move an axis to before another one.

    Args:
        x: Of any shape and dtype that has the axis.
        axis: The axis to move.
        start: The axis that it comes to stand before; the number of axes puts it last.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.rollaxis(np.zeros((2, 3, 4), "f"), 2).shape
    (4, 2, 3)
    """

    axis: int
    start: int = 0
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={
            "axis": axes_setting("x"),
            "start": choice(lambda shapes: range(-len(shapes["x"]), len(shapes["x"]) + 1)),
        },
        valid="-x.ndim <= start <= x.ndim",
    )

    def order(self, ndim: int) -> tuple[int, ...]:
        """The permutation, counted from the front."""
        source = self.axis % ndim
        target = ndim if self.start == ndim else self.start % ndim
        order = [i for i in range(ndim) if i != source]
        order.insert(target - (source < target), source)
        return tuple(order)


@removed()
def transpose(x: Array, axes: Sequence[int] | None = None) -> Variable:
    """Permute the axes: axis i of the result is axis `axes[i]` of `x`.

    Args:
        x: Of any shape and dtype.
        axes: A permutation of the axes; None reverses them.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has another number of axes.
        ValueError: `axes` is not a permutation.

    >>> import core.functions as F, numpy as np
    >>> F.transpose(np.array([[1, 2], [3, 4]], "f"))
    variable([[1., 3.],
              [2., 4.]], dtype=float32)
    """
    return Transpose.call(x, axes)


def matrix_transpose(x: Array) -> Variable:
    """Swap the last two axes of x."""
    ndim = as_variable(x).ndim
    if ndim < 2:
        raise ValueError(f"matrix_transpose: expected at least 2 axes, got {ndim}")
    return Transpose.call(x, (*range(ndim - 2), ndim - 1, ndim - 2))


swapaxes = function_of(Swapaxes, "swapaxes")


rollaxis = function_of(Rollaxis, "rollaxis")


@checked
def moveaxis(x: Array, source: int | Sequence[int], destination: int | Sequence[int]) -> Variable:
    """Move axes to other positions; the others keep their order.

    Args:
        x: Of any shape and dtype that has the axes.
        source: An axis, or several.
        destination: Where each of them comes to stand.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis.
        ValueError: An axis or a place comes twice, or there are more of one than of the other.

    >>> import core.functions as F, numpy as np
    >>> F.moveaxis(np.zeros((2, 3, 4), "f"), (0, 1), (-1, 0)).shape
    (3, 4, 2)
    """
    x = as_variable(x)
    return Transpose.call(x, _moved(source, destination, x.ndim))


@lru_cache(256, typed=True)
def _moved(source: Any, destination: Any, ndim: int) -> tuple[int, ...]:
    """The order of the axes in which some have moved."""
    taken, places = [known_axes("moveaxis", axes, ndim) for axes in (source, destination)]
    if not len(set(taken)) == len(taken) == len(places) == len(set(places)):
        raise ValueError(
            f"moveaxis: expected as many places as axes, each once; got {source} to {destination}"
        )
    order = [i for i in range(ndim) if i not in taken]
    for place, axis in sorted(zip(places, taken, strict=True)):
        order.insert(place, axis)
    return tuple(order)


def known_axes(where: str, axes: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from the front; InvalidType for one that does not exist."""
    axes = (axes,) if is_whole(axes) else tuple(axes)
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise InvalidType(f"{-ndim} <= axis < {ndim}", f"axis is {axis}", operation=where)
    return axes_of(axes, ndim)
