"""Convolution whose filters differ from place to place."""

from __future__ import annotations

from math import prod

from core import Variable, as_variable
from core.arrays.windows import per_axis, window_count
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, Sizes
from plugins.functions.array.axis_order import transpose
from plugins.functions.array.reshape import reshape
from plugins.functions.math.product import product as matmul
from plugins.functions.windows import Windows, of_rank


@checked
def local_convolution_2d(x: Array, W: Array, b: Array | None = None, stride: Sizes = 1) -> Variable:
    """Convolution over images with filters of its own at each place: locally connected layers.

    Args:
        x: Floating, (n, c, h, w).
        W: Filters, (o, e_1, e_2, c, kh, kw), of the dtype of `x`.
        b: Biases, (o, e_1, e_2), or None.
        stride: Distance of neighbouring windows, for each axis or for both.

    Returns:
        (n, o, e_1, e_2) with e_1 = floor((h - kh) / stride) + 1 and e_2 alike.

    Raises:
        InvalidType: Ranks, sizes or dtypes do not fit.

    Source: LeCun 1989, "Generalization and network design strategies", section 6.2.

    >>> import core.functions as F, numpy as np
    >>> x = np.arange(4, dtype="f").reshape(1, 1, 1, 4)
    >>> W = np.array([[1, 1], [0, 1], [1, 0]], "f").reshape(1, 1, 3, 1, 1, 2)
    >>> F.local_convolution_2d(x, W).array.ravel()
    array([1., 2., 2.], dtype=float32)
    """
    name = "local_convolution_2d"
    x, W = of_rank(name, 2, x), of_rank(name, 4, W, "W")
    units, *out, channels = W.shape[:4]
    ksize, stride = W.shape[4:], per_axis(stride, 2, "local_convolution_2d: stride")
    places = [window_count(*each, 0) for each in zip(x.shape[2:], ksize, stride, strict=True)]
    actual, expected = (x.shape[1], *places), (channels, *out)
    if actual != expected:
        raise InvalidType(
            "channels and places of x and W that fit", f"{actual} != {expected}", operation=name
        )
    if b is not None and as_variable(b).shape != W.shape[:3]:
        raise InvalidType(
            "b.shape == W.shape[:3]", f"{as_variable(b).shape} != {W.shape[:3]}", operation=name
        )
    rows, count = channels * prod(ksize), prod(out)
    seen = reshape(Windows.call(x, ksize, stride), (x.shape[0], rows, count))
    filters = reshape(W, (units, count, rows))
    y = matmul(transpose(seen, (2, 0, 1)), transpose(filters, (1, 2, 0)))
    y = reshape(transpose(y, (1, 2, 0)), (x.shape[0], units, *out))
    return y if b is None else y + b
