"""The deconvolutional layer that makes images."""

from __future__ import annotations

from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Count, Counts, Sizes, Widths
from plugins.links.connection.deconvolution_nd import DeconvolutionND


class Deconvolution2D(DeconvolutionND):
    r"""A deconvolutional layer that makes images.

    .. math:: y_{n,o,sh+di-p,sw+dj-p} = b_o + \sum_{chwij} W_{coij}\, x_{nchw}

    Args:
        in_channels: Channels of the input; None, or left out (`Deconvolution2D(out_channels,
            ksize)`), takes it from the first input.
        out_channels: Channels of the output.
        ksize: Height and width of the filters, a pair or one number for both.
        stride: Distance s of neighbouring windows, likewise.
        pad: Rows and columns p that are cut off around the output, likewise.
        nobias: Whether to leave b out.
        outsize: Height and width of the output; None takes the least possible, s (h - 1) + d (k -
            1) + 1 - 2 p.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.
        dilate: Distance d of neighbouring elements of a window.
        groups: Into how many independent parts the channels are divided.

    Shapes: x (n, in_channels, h, w) floating; W (in_channels, out_channels / groups, kh, kw), b
    (out_channels,), y (n, out_channels, *outsize).

    Source: Zeiler et al. 2010, "Deconvolutional networks", CVPR.

    >>> import core.links as L, numpy as np
    >>> layer = L.Deconvolution2D(1, 3, ksize=2, stride=2)
    >>> layer(np.ones((1, 1, 4, 4), "f")).shape
    (1, 3, 8, 8)
    """

    @checked
    def __init__(
        self,
        in_channels: int | None,
        out_channels: Sizes,
        ksize: Counts | None = None,
        stride: Counts = 1,
        pad: Widths = 0,
        nobias: bool = False,
        outsize: Sizes | None = None,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
        *,
        dilate: Counts = 1,
        groups: Count = 1,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(2, *sizes, nobias, outsize, initialW, initial_bias, dilate, groups)
