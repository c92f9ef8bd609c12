"""Convolution of each channel by filters of its own (Chollet 2016, arXiv:1610.02357)."""

from __future__ import annotations

from core import Variable
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, Sizes
from plugins.functions.array.axis_order import transpose
from plugins.functions.array.reshape import reshape
from plugins.functions.connection.convolution import convolution_nd
from plugins.functions.windows import of_rank


@checked
def depthwise_convolution_2d(
    x: Array, W: Array, b: Array | None = None, stride: Sizes = 1, pad: Sizes = 0
) -> Variable:
    """Convolution over images, each channel by several filters, the channels kept apart.

    Args:
        x: Floating, (n, c, h, w).
        W: Filters, (m, c, kh, kw), m of them for each channel, floating.
        b: Biases, (c m,), or None.
        stride: Distance of neighbouring windows, for each axis or for both.
        pad: Zeros around the input, for each axis or for both.

    Returns:
        (n, c m, e_1, e_2), the outputs of a channel next to each other.

    Raises:
        InvalidType: Ranks, channels or dtypes do not fit.
        ValueError: A window is larger than the padded input.

    Source: Chollet 2016 (arXiv:1610.02357), section 1.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([1, 10], "f").reshape(1, 2, 1, 1)
    >>> W = np.array([[1, 2], [3, 4]], "f").reshape(2, 2, 1, 1)
    >>> F.depthwise_convolution_2d(x, W).array.ravel()
    array([ 1.,  3., 20., 40.], dtype=float32)
    """
    x, W = (of_rank("depthwise_convolution_2d", 2, v, name) for v, name in ((x, "x"), (W, "W")))
    if x.shape[1] != W.shape[1]:
        raise InvalidType(
            "x.shape[1] == W.shape[1]",
            f"{x.shape[1]} != {W.shape[1]}",
            operation="depthwise_convolution_2d",
        )
    filters = reshape(transpose(W, (1, 0, 2, 3)), (-1, 1, *W.shape[2:]))
    return convolution_nd(x, filters, b, stride, pad, groups=x.shape[1])
