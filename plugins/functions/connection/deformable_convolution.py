"""Convolution whose filters reach where offsets say (Dai et al. 2017, arXiv:1703.06211)."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Variable
from core.arrays.windows import per_axis, window_count
from core.errors.kinds import checked
from core.typing import Array, Sizes
from plugins.functions.array.axis_order import transpose
from plugins.functions.array.cast import refuse_complex
from plugins.functions.array.reshape import reshape
from plugins.functions.array.take import Take
from plugins.functions.math.product import product as matmul
from plugins.functions.refusal import dtype_name, require
from plugins.functions.windows import of_rank


@checked
def deformable_convolution_2d_sampler(
    x: Array, offset: Array, W: Array, b: Array | None = None, stride: Sizes = 1, pad: Sizes = 0
) -> Variable:
    """Convolution over images, each element of each window moved by an offset.

    The value at a moved place is interpolated between the four elements around it; outside of the
    image there are zeros. Gradients reach the offsets as well.

    Args:
        x: Floating, (n, c, h, w).
        offset: How far the k = kh kw elements of the windows are moved, (n, 2 k, e_1, e_2), of the
            dtype of `x`: first those along w, then those along h, both row by row of the filter.
        W: Filters, (o, c, kh, kw), alike.
        b: Biases, (o,), or None.
        stride: Distance of neighbouring windows, for each axis or for both.
        pad: How far the windows reach over the edges, for each axis or for both.

    Returns:
        (n, o, e_1, e_2), as `convolution_2d` gives it.

    Raises:
        InvalidType: Ranks, sizes or dtypes do not fit.

    Source: Dai et al. 2017 (arXiv:1703.06211), equations 2 to 4.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[[[1, 3, 5]]]], "f")
    >>> offset = np.zeros((1, 2, 1, 3), "f")
    >>> offset[0, 0] = 0.5  # half an element to the right
    >>> F.deformable_convolution_2d_sampler(x, offset, np.ones((1, 1, 1, 1), "f")).array.ravel()
    array([2. , 4. , 2.5], dtype=float32)
    """
    name = "deformable_convolution_2d_sampler"
    images, W = of_rank(name, 2, x), of_rank(name, 2, W, "W")
    moves = of_rank(name, 2, offset, "offset")
    stride, pad = (
        per_axis(stride, 2, "deformable_convolution_2d_sampler: stride"),
        per_axis(pad, 2, "deformable_convolution_2d_sampler: pad"),
    )
    (n, c, *size), ksize = images.shape, W.shape[2:]
    out = [window_count(*each) for each in zip(size, ksize, stride, pad, strict=True)]
    taps = prod(ksize)
    refuse_complex(name, images)
    require(
        name,
        ("offset.dtype == x.dtype", dtype_name(moves), dtype_name(images)),
        (f"offset.shape == {(n, 2 * taps, *out)}", moves.shape, (n, 2 * taps, *out)),
        (f"W.shape[1] == {c}", W.shape[1], c),
    )
    with images.backend.beside(images.array):
        sides = [
            _positions(moves, axis, ksize, out, stride[axis], pad[axis], size[axis])
            for axis in range(2)
        ]
        seen = _sampled(images, *sides)
    filters = reshape(transpose(W, (2, 3, 1, 0)), (taps * c, W.shape[0]))
    y = matmul(reshape(transpose(seen, (0, 2, 1, 3)), (n * prod(out), taps * c)), filters)
    y = y if b is None else y + b
    return transpose(reshape(y, (n, *out, W.shape[0])), (0, 3, 1, 2))


def _positions(
    offset: Variable, axis: int, ksize: Any, out: Any, stride: int, pad: int, length: int
) -> list[tuple[Any, Any]]:
    """Along an axis, the two elements around each place, and what each of them weighs.

    Both are (n, taps, places); an element outside of the image weighs nothing.
    """
    xp, taps, places = offset.xp, prod(ksize), prod(out)
    moved = offset[:, :taps, ...] if axis else offset[:, taps:, ...]
    like = {"dtype": offset.dtype, "device": offset.array.device}
    tap = xp.broadcast_to(_along(xp.arange(ksize[axis], **like), axis), ksize)
    start = xp.broadcast_to(_along(xp.arange(out[axis], **like) * stride - pad, axis), out)
    fixed = xp.reshape(tap, (taps, 1)) + xp.reshape(start, (1, places))
    place = reshape(moved, (offset.shape[0], taps, places)) + fixed
    below = xp.floor(place.array)
    share = place - below
    sides = []
    for element, weight in ((below, 1.0 - share), (below + 1, share)):
        inside = (element >= 0) & (element < length)
        index = xp.where(inside, element, xp.zeros_like(element))
        sides.append((xp.astype(index, xp.int64), weight * xp.astype(inside, offset.dtype)))
    return sides


def _along(values: Any, axis: int) -> Any:
    return values[None, :] if axis else values[:, None]


def _sampled(x: Variable, rows: Any, columns: Any) -> Variable:
    """The interpolated values, (n, taps, places, c)."""
    n, c, h, w = x.shape
    elements = reshape(transpose(x, (0, 2, 3, 1)), (n * h * w, c))
    image = x.xp.arange(n, dtype=rows[0][0].dtype, device=x.array.device)[:, None, None]
    total: Any = 0.0
    for row, down in rows:
        for column, across in columns:
            index = x.xp.reshape((image * h + row) * w + column, (-1,))
            values = reshape(Take.call(elements, index, axis=0), (*row.shape, c))
            total = values * reshape(down * across, (*row.shape, 1)) + total
    return total
