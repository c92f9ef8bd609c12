"""Convolution with holes in its filters (Yu and Koltun 2015, arXiv:1511.07122)."""

from __future__ import annotations

from core import Variable
from core.errors.kinds import checked
from core.typing import Array, Sizes
from plugins.functions.connection.convolution import convolution_nd
from plugins.functions.windows import of_rank


@checked
def dilated_convolution_2d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    dilate: Sizes = 1,
    cover_all: bool = False,
) -> Variable:
    """Convolution over images, the elements of a filter `dilate` apart.

    `convolution_2d` has the same setting; this is its older form.

    Args:
        x: Floating, (n, c, h, w).
        W: Filters, (o, c, kh, kw), floating.
        b: Biases, (o,), or None.
        stride: Distance of neighbouring windows, for each axis or for both.
        pad: Zeros around the input, for each axis or for both.
        dilate: Distance of neighbouring elements of a window.
        cover_all: Let the windows reach every element, padding the end further.

    Returns:
        (n, o, e_1, e_2), as `convolution_nd` gives it.

    Raises:
        InvalidType: Ranks, channels or dtypes do not fit.
        ValueError: A window is larger than the padded input.

    Source: Yu and Koltun 2015 (arXiv:1511.07122), equation 2.

    >>> import core.functions as F, numpy as np
    >>> x = np.ones((1, 1, 5, 5), "f")
    >>> F.dilated_convolution_2d(x, np.ones((1, 1, 3, 3), "f"), dilate=2)
    variable([[[[9.]]]], dtype=float32)
    """
    x = of_rank("dilated_convolution_2d", 2, x)
    return convolution_nd(x, W, b, stride, pad, cover_all, dilate)
