"""Deconvolution, also called transposed convolution: the adjoint of convolution as a layer."""

from __future__ import annotations

from core import Variable, as_variable
from core.arrays.windows import per_axis
from core.errors.kinds import checked
from core.typing import Array, Sizes, Widths
from plugins.functions.connection.convolution import Deconvolution
from plugins.functions.removed import removed
from plugins.functions.windows import of_rank


@checked
@removed()
def deconvolution_nd(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Widths = 0,
    outsize: Sizes | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution over any number of spatial axes: each element spreads a filter.

    The gradient of `convolution_nd` with respect to its input, seen as a function of its own.

    Args:
        x: Floating, (n, c, d_1, ..., d_N).
        W: Filters, (c, o / groups, k_1, ..., k_N), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: How far apart neighbouring elements spread their filters.
        pad: How much is cut off each end of the output.
        outsize: Spatial sizes (e_1, ..., e_N) of the output. A convolution of an array of these
            sizes has to give (d_1, ..., d_N); with a stride above 1 several do. None takes the
            least.
        dilate: Distance of neighbouring elements of a filter.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, e_1, ..., e_N); by default e = stride (d - 1) + dilate (k - 1) + 1 - 2 pad.

    Raises:
        InvalidType: Ranks, channels, dtypes or `outsize` do not fit.

    Source: Zeiler, Krishnan, Taylor and Fergus 2010, "Deconvolutional networks".

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[[1, 2]]], "f")
    >>> F.deconvolution_nd(x, np.ones((1, 1, 3), "f"), stride=2)
    variable([[[1., 1., 3., 2., 2.]]], dtype=float32)
    """
    ndim = as_variable(W).ndim - 2
    x = of_rank("deconvolution_nd", ndim, x)
    return Deconvolution.call(
        x,
        W,
        b,
        stride=per_axis(stride, ndim, "deconvolution_nd: stride"),
        pad=per_axis(pad, ndim, "deconvolution_nd: pad"),
        dilate=per_axis(dilate, ndim, "deconvolution_nd: dilate"),
        groups=groups,
        size=None if outsize is None else per_axis(outsize, ndim, "deconvolution_nd: outsize"),
    )


@removed()
def deconvolution_1d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Widths = 0,
    outsize: Sizes | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution over one spatial axis: each element spreads a filter over the output.

    The gradient of `convolution_1d` with respect to its input, seen as a function of its own.

    Args:
        x: Floating, (n, c, l).
        W: Filters, (c, o / groups, k), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: How far apart neighbouring elements spread their filters, in a tuple or alone.
        pad: How much is cut off each end of the output.
        outsize: Spatial sizes of the output, or None for the least; see `deconvolution_nd`.
        dilate: Distance of neighbouring elements of a filter.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, l'), and the dtype of `x`; by default each size becomes
        stride (size - 1) + dilate (k - 1) + 1 - 2 pad.

    Raises:
        InvalidType: Ranks, channels, dtypes or `outsize` do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.deconvolution_1d(np.ones((1, 2, 4), "f"), np.ones((2, 3, 3), "f"), stride=2).shape
    (1, 3, 9)
    """
    x = of_rank("deconvolution_1d", 1, x)
    return deconvolution_nd(x, W, b, stride, pad, outsize, dilate, groups)


@removed()
def deconvolution_2d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Widths = 0,
    outsize: Sizes | None = None,
    *,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution over images: each element spreads a filter over the output.

    The gradient of `convolution_2d` with respect to its input, seen as a function of its own.

    Args:
        x: Floating, (n, c, h, w).
        W: Filters, (c, o / groups, kh, kw), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: How far apart neighbouring elements spread their filters, for each axis or for both.
        pad: How much is cut off each end of the output.
        outsize: Spatial sizes of the output, or None for the least; see `deconvolution_nd`.
        dilate: Distance of neighbouring elements of a filter.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, h', w'), and the dtype of `x`; by default each size becomes
        stride (size - 1) + dilate (k - 1) + 1 - 2 pad.

    Raises:
        InvalidType: Ranks, channels, dtypes or `outsize` do not fit.

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 4, 4, 4), "f"), np.ones((4, 3, 3, 3), "f")
    >>> F.deconvolution_2d(x, W, stride=2, pad=1, outsize=(8, 8)).shape
    (1, 3, 8, 8)
    """
    x = of_rank("deconvolution_2d", 2, x)
    return deconvolution_nd(x, W, b, stride, pad, outsize, dilate, groups)


@removed()
def deconvolution_3d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Widths = 0,
    outsize: Sizes | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution over volumes: each element spreads a filter over the output.

    The gradient of `convolution_3d` with respect to its input, seen as a function of its own.

    Args:
        x: Floating, (n, c, d, h, w).
        W: Filters, (c, o / groups, kd, kh, kw), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: How far apart neighbouring elements spread their filters, for each axis or for all.
        pad: How much is cut off each end of the output.
        outsize: Spatial sizes of the output, or None for the least; see `deconvolution_nd`.
        dilate: Distance of neighbouring elements of a filter.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, d', h', w'), and the dtype of `x`; by default each size becomes
        stride (size - 1) + dilate (k - 1) + 1 - 2 pad.

    Raises:
        InvalidType: Ranks, channels, dtypes or `outsize` do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.deconvolution_3d(np.ones((1, 1, 2, 2, 2), "f"), np.ones((1, 2, 2, 2, 2), "f")).shape
    (1, 2, 3, 3, 3)
    """
    x = of_rank("deconvolution_3d", 3, x)
    return deconvolution_nd(x, W, b, stride, pad, outsize, dilate, groups)
