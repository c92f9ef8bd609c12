"""Channels turned into pixels in PyTorch's order, and back."""

from __future__ import annotations

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array, Count
from plugins.functions.array.axis_order import transpose
from plugins.functions.array.reshape import reshape
from plugins.functions.refusal import require


@checked
def pixel_shuffle(x: Array, r: Count) -> Variable:
    """Turn channels into pixels: r² channels become a block of r x r pixels, in PyTorch's order.

    Pixel (i, j) of each block of channel k comes from channel k r² + i r + j. In `depth2space` it
    comes from (i r + j) c + k, with c channels in the result.

    Args:
        x: (n, r² c, h, w).
        r: The factor of height and width.

    Returns:
        (n, c, r h, r w), and the dtype of `x`.

    Raises:
        InvalidType: `r²` does not divide the channels, or `x` has no four axes.

    Source: Shi et al. 2016 (arXiv:1609.05158), equation 4, the channels of each result together.

    >>> import core.functions as F, numpy as np
    >>> F.pixel_shuffle(np.arange(8, dtype="f").reshape(1, 8, 1, 1), 2)[0, 1]
    variable([[4., 5.],
              [6., 7.]], dtype=float32)
    """
    x = as_variable(x)
    require("pixel_shuffle", ("x.ndim == 4", x.ndim, 4))
    n, channels, h, w = x.shape
    require("pixel_shuffle", ("x.shape[1] % r**2 == 0", channels % r**2, 0))
    c = channels // r**2
    blocks = transpose(reshape(x, (n, c, r, r, h, w)), (0, 1, 4, 2, 5, 3))
    return reshape(blocks, (n, c, h * r, w * r))


@checked
def pixel_unshuffle(x: Array, r: Count) -> Variable:
    """Turn pixels into channels: a block of r x r pixels becomes r² channels, in PyTorch's order.

    It undoes `pixel_shuffle`.

    Args:
        x: (n, c, r h, r w).
        r: The factor of height and width.

    Returns:
        (n, r² c, h, w), and the dtype of `x`.

    Raises:
        InvalidType: `r` does not divide height and width, or `x` has no four axes.

    >>> import core.functions as F, numpy as np
    >>> F.pixel_unshuffle(np.arange(4, dtype="f").reshape(1, 1, 2, 2), 2).array.ravel()
    array([0., 1., 2., 3.], dtype=float32)
    """
    x = as_variable(x)
    require("pixel_unshuffle", ("x.ndim == 4", x.ndim, 4))
    n, c, h, w = x.shape
    require(
        "pixel_unshuffle",
        ("x.shape[2] % r == 0", h % r, 0),
        ("x.shape[3] % r == 0", w % r, 0),
    )
    blocks = transpose(reshape(x, (n, c, h // r, r, w // r, r)), (0, 1, 3, 5, 2, 4))
    return reshape(blocks, (n, c * r * r, h // r, w // r))
