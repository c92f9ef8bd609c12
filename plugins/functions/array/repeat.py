"""Each element repeated."""

from __future__ import annotations

from collections.abc import Sequence

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.axis_order import known_axes
from plugins.functions.array.broadcast import broadcast_to
from plugins.functions.array.reshape import reshape
from plugins.functions.array.take import take


@checked
def repeat(x: Array, repeats: int | Sequence[int], axis: int | None = None) -> Variable:
    """Repeat each element along an axis.

    Args:
        x: Of any shape and dtype.
        repeats: How often: an int, or an int for each place along the axis.
        axis: The axis; None repeats along the flattened array.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis.
        ValueError: A number is negative, or there is not one for each place.

    >>> import core.functions as F, numpy as np
    >>> F.repeat(np.array([1, 2], "f"), 2)
    variable([1., 1., 2., 2.], dtype=float32)
    """
    x = as_variable(x)
    if axis is None:
        x, axis = x.reshape((x.size,)), 0
    (axis,) = known_axes("repeat", axis, x.ndim)
    counts = [repeats] if isinstance(repeats, int) else repeats
    if len(counts) not in (1, x.shape[axis]) or min(counts, default=0) < 0:
        raise ValueError(
            f"repeat: expected a number of at least 0, or {x.shape[axis]} of them, got {repeats}"
        )
    if len(counts) == 1:
        return _each(x, counts[0], axis)
    places = [i for i, n in enumerate(counts) for _ in range(n)]
    return take(x, x.backend.asarray(places, "int64", x.device), axis=axis)


def _each(x: Variable, count: int, axis: int) -> Variable:
    before, after = x.shape[: axis + 1], x.shape[axis + 1 :]
    wide = broadcast_to(reshape(x, (*before, 1, *after)), (*before, count, *after))
    return reshape(wide, (*before[:-1], before[-1] * count, *after))
