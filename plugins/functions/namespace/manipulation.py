"""Shapes and pieces, with the standard's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_variable, axes, choice
from core.errors.kinds import checked
from core.typing import Array, Axes
from plugins.functions.array.axis_order import known_axes
from plugins.functions.array.axis_order import moveaxis as moveaxis
from plugins.functions.array.broadcast import broadcast
from plugins.functions.array.concat import Concat
from plugins.functions.array.expand_dims import ExpandDims
from plugins.functions.array.flip import Flip
from plugins.functions.array.repeat import repeat as repeat_of_numbers
from plugins.functions.array.reshape import reshape
from plugins.functions.array.split_axis import separate
from plugins.functions.array.squeeze import squeeze as squeeze
from plugins.functions.array.stack import Stack
from plugins.functions.array.tile import tile as tile
from plugins.functions.namespace.promotion import promoted


def concat(arrays: Any, axis: int | None = 0) -> Variable:
    """Arrays joined along an axis, by default the first; flattened where it is None.

    >>> import numpy as np
    >>> concat([np.zeros(1), np.ones(2)])
    variable([0., 1., 1.])
    """
    arrays = promoted(*arrays)
    if axis is not None:
        return Concat.call(*arrays, axis=axis)
    flat = [reshape(x, (as_variable(x).size,)) for x in arrays]
    return Concat.call(*flat, axis=0)


def stack(arrays: Any, axis: int = 0) -> Variable:
    """Arrays of one shape joined along a new axis.

    >>> import numpy as np
    >>> stack([np.zeros(2), np.ones(2)]).shape
    (2, 2)
    """
    return Stack.call(*promoted(*arrays), axis=axis)


def expand_dims(x: Array, /, axis: int) -> Variable:
    """A new axis of length 1."""
    return ExpandDims.call(x, axis)


def flip(x: Array, axis: Axes = None) -> Variable:
    """The order along some axes reversed, by default along all."""
    return Flip.call(x, axis)


def broadcast_arrays(*arrays: Any) -> list[Variable]:
    """All arrays repeated to their common shape."""
    outputs = broadcast(*arrays)
    return [outputs] if isinstance(outputs, Variable) else list(outputs)


def unstack(x: Array, axis: int = 0) -> tuple[Variable, ...]:
    """The parts along an axis, each without it."""
    return separate(x, axis)


class Roll(FunctionNode):
    """x moved along each axis by so many places; the gradient is moved back."""

    shifts: tuple[int, ...]
    domain = Domain(
        "(...)->(...)",
        x=anything(),
        settings={"shifts": choice(lambda shapes: _some_shifts(len(shapes["x"])))},
        valid="x.ndim == len(shifts)",
    )

    def compute(self, xp, x):
        return _rolled(xp, x, self.shifts)

    def gradient(self, xp, g):
        return _rolled(xp, g, tuple([-n for n in self.shifts]))


def _rolled(xp: Any, x: Any, shifts: tuple[int, ...]) -> Any:
    along = [axis for axis, n in enumerate(shifts) if n]
    if not along:
        return xp.asarray(x, copy=True)
    return xp.roll(x, tuple([shifts[axis] for axis in along]), axis=tuple(along))


def _some_shifts(ndim: int) -> list[tuple[int, ...]]:
    return [tuple([(1, -2, 0, 7)[(i + k) % 4] for k in range(ndim)]) for i in range(4)]


class Difference(FunctionNode):
    """What each element along an axis has more than the one before."""

    axis: int = -1
    domain = Domain("(...)->(...b)", x=anything(), settings={"axis": axes("x", nonempty=True)})

    def compute(self, xp, x):
        later, earlier = _neighbours(x, self.axis)
        return later - earlier

    def gradient(self, xp, g):
        axis = self.axis % g.ndim
        end = (*g.shape[:axis], 1, *g.shape[axis + 1 :])
        zero = xp.zeros(end, dtype=g.dtype, device=g.device)
        later, earlier = _neighbours(xp.concat([zero, g, zero], axis=axis), axis)
        return earlier - later


def _neighbours(x: Any, axis: int) -> tuple[Any, Any]:
    """All elements along an axis but the first, and all but the last."""
    lead = (slice(None),) * (axis % x.ndim)
    return x[(*lead, slice(1, None), ...)], x[(*lead, slice(0, -1), ...)]


@checked
def roll(x: Array, shift: int | Sequence[int], axis: Axes = None) -> Variable:
    """Elements moved along axes; what leaves at one end comes back at the other.

    >>> import numpy as np
    >>> roll(np.array([1.0, 2.0, 3.0]), 1)
    variable([3., 1., 2.])
    """
    y = as_variable(x)
    if axis is None:
        return reshape(roll(reshape(y, (y.size,)), shift, 0), y.shape)
    along = known_axes("roll", axis, y.ndim)
    shifts = (shift,) * len(along) if isinstance(shift, int) else tuple(shift)
    if len(shifts) != len(along):
        raise ValueError(f"roll: expected a shift for each of {len(along)} axes, got {shift}")
    whole = [0] * y.ndim
    for a, by in zip(along, shifts, strict=True):  # an axis may come twice
        whole[a] += by
    return Roll.call(y, tuple(whole))


def repeat(x: Array, repeats: Any, axis: int | None = None) -> Variable:
    """Each element repeated, so often as a whole number says, or an array of one for each place.

    >>> import numpy as np
    >>> repeat(np.array([1.0, 2.0]), Variable(np.array([1, 2])))
    variable([1., 2., 2.])
    """
    if isinstance(repeats, Variable):
        repeats = repeats.backend.to_host(repeats.array).tolist()
    return repeat_of_numbers(x, repeats, axis)


@checked
def diff(x: Array, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Variable:
    """Differences of neighbours along an axis, `n` times over.

    >>> import numpy as np
    >>> diff(np.array([1.0, 4.0, 9.0]))
    variable([3., 5.])
    """
    y = as_variable(x)
    (axis,) = known_axes("diff", axis, y.ndim)
    parts = [part for part in (prepend, y, append) if part is not None]
    y = concat(parts, axis=axis) if n and len(parts) > 1 else y
    for _ in range(min(n, y.shape[axis])):
        y = Difference.call(y, axis)
    return y


@checked
def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Variable]:
    """For each vector, its values over the grid that all of them span.

    >>> import numpy as np
    >>> [a.shape for a in meshgrid(np.zeros(2), np.zeros(3))]
    [(3, 2), (3, 2)]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: expected indexing to be 'xy' or 'ij', got {indexing!r}")
    count = len(arrays)
    places = list(range(count))
    if indexing == "xy" and count > 1:
        places[:2] = [1, 0]
    lines = [
        reshape(x, [-1 if i == place else 1 for i in range(count)])
        for x, place in zip(arrays, places, strict=True)
    ]
    return broadcast_arrays(*lines) if lines else []
