"""Deconvolution, also called transposed convolution: the adjoint of convolution as a layer."""

from __future__ import annotations

from core import Variable
from core.typing import Array, Sizes, Widths
from plugins.functions.connection.convolution import Deconvolution
from plugins.functions.ranks import Family, Rank


@Family
def deconvolution(  # noqa: D417
    rank: Rank,
    /,
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Widths = 0,
    outsize: Sizes | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution over $over: each element spreads a filter over the output.

    The gradient of `convolution_$rank` with respect to its input, seen as a function of its own.

    Args:
        x: Floating, (n, c, $d).
        W: Filters, (c, o / groups, $k), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: How far apart neighbouring elements spread filters, $each.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes ($e) of the output, None for the least. A convolution of
            an array of these sizes has to give ($d); with a stride above 1 several do.
        dilate: Distance of neighbouring elements of a filter, as `stride`.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, $e), and the dtype of `x`; by default each size becomes
        stride (size - 1) + dilate (k - 1) + 1 - 2 pad.

    Raises:
        InvalidType: Ranks, channels, dtypes or `outsize` do not fit.

    Source: Zeiler, Krishnan, Taylor and Fergus 2010, "Deconvolutional networks".

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, $4), "f"), np.ones((2, 3, $3), "f")
    >>> F.deconvolution_$rank(x, W, stride=2, pad=1, outsize=8).shape
    (1, 3, $8)
    """
    x, W, ndim = rank.of(x, W)
    return Deconvolution.call(
        x,
        W,
        b,
        stride=rank.each(stride, ndim, "stride"),
        pad=rank.each(pad, ndim, "pad"),
        dilate=rank.each(dilate, ndim, "dilate"),
        groups=groups,
        size=None if outsize is None else rank.each(outsize, ndim, "outsize"),
    )


deconvolution_1d = deconvolution("1d")
deconvolution_2d = deconvolution("2d", by_name=("dilate", "groups"))
deconvolution_3d = deconvolution("3d")
deconvolution_nd = deconvolution("nd")
