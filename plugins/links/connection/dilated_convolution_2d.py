"""The convolutional layer over images whose windows have gaps."""

from __future__ import annotations

from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Counts, Sizes, Widths
from plugins.links.connection.convolution import Convolution2D


class DilatedConvolution2D(Convolution2D):
    """A dilated convolutional layer over images.

    It is `Convolution2D`, and computes its formula, with the dilation among the positional
    arguments.

    Args:
        in_channels: Channels of the input; None, or left out (`DilatedConvolution2D(out_channels,
            ksize)`), takes it from the first input.
        out_channels: Channels of the output.
        ksize: Height and width of the filters, a pair or one number for both.
        stride: Distance of neighbouring windows, likewise.
        pad: Zeros around the input, likewise.
        dilate: Distance of neighbouring elements of a window, likewise.
        nobias: Whether to leave b out.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.

    Shapes: as for `Convolution2D`.

    Source: Yu and Koltun 2016 (arXiv:1511.07122), section 2.

    >>> import core.links as L, numpy as np
    >>> layer = L.DilatedConvolution2D(1, 3, ksize=2, dilate=2)
    >>> layer(np.ones((1, 1, 5, 5), "f")).shape
    (1, 3, 3, 3)
    """

    @checked
    def __init__(
        self,
        in_channels: int | None,
        out_channels: Sizes,
        ksize: Counts | None = None,
        stride: Counts = 1,
        pad: Widths = 0,
        dilate: Counts = 1,
        nobias: bool = False,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(*sizes, nobias, initialW, initial_bias, dilate=dilate)
