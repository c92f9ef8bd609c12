"""Views with strides."""

from __future__ import annotations

from collections.abc import Sequence

from core import Variable, as_variable
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.reshape import reshape
from plugins.functions.array.take import Take


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
    x = as_variable(x)
    if len(shape) != len(strides):
        raise ValueError(f"as_strided: expected {len(shape)} strides, one an axis; got {strides}")
    offset = storage_offset or 0
    ways = [s * (n - 1) for n, s in zip(shape, strides, strict=True)]  # to the ends of the axes
    lowest = offset + sum([way for way in ways if way < 0])
    highest = offset + sum([way for way in ways if way > 0])
    if 0 not in shape and not 0 <= lowest <= highest < x.size:
        raise InvalidType(
            f"elements among 0 to {x.size - 1}",
            f"elements {lowest} to {highest}",
            operation="as_strided",
        )
    flat = reshape(x, (x.size,))
    xp, device = x.backend.xp, x.array.device
    places = xp.full((1,), offset, dtype=xp.int64, device=device)
    for axis, (n, step) in enumerate(zip(shape, strides, strict=True), 1):
        steps = xp.arange(n, dtype=xp.int64, device=device) * step
        places = xp.reshape(steps, (n, *(1,) * (len(shape) - axis))) + places
    return reshape(Take.call(flat, xp.reshape(places, (-1,))), tuple(shape))
