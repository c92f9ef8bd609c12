"""The convolutional layer over images."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Count, Counts, Sizes, Widths
from plugins.links.connection.convolution_nd import ConvolutionND


class Convolution2D(ConvolutionND):
    r"""A convolutional layer over images.

    .. math:: y_{nohw} = b_o + \sum_{cij} W_{ocij}\, x_{n,c,sh+di-p,sw+dj-p}

    Args:
        in_channels: Channels of the input; None, or left out (`Convolution2D(out_channels,
            ksize)`), takes it from the first input.
        out_channels: Channels of the output.
        ksize: Height and width of the filters, a pair or one number for both.
        stride: Distance s of neighbouring windows, likewise.
        pad: Zeros p around the input, likewise.
        nobias: Whether to leave b out.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.
        dilate: Distance d of neighbouring elements of a window.
        groups: Into how many independent parts the channels are divided.

    Shapes: x (n, in_channels, h, w) floating; W (out_channels, in_channels / groups, kh, kw),
    b (out_channels,), y (n, out_channels, h', w') with h' = (h + 2p - d(kh - 1) - 1) // s + 1.

    Source: LeCun, Bottou, Bengio and Haffner 1998, "Gradient-based learning applied to document
    recognition", Proceedings of the IEEE 86(11), section II.

    >>> import core.links as L, numpy as np
    >>> layer = L.Convolution2D(1, 3, ksize=2, initialW=1)
    >>> layer(np.ones((1, 1, 4, 4), "f")).shape
    (1, 3, 3, 3)
    """

    _rank = 2

    @checked
    def __init__(
        self,
        in_channels: int | None,
        out_channels: Sizes,
        ksize: Counts | None = None,
        stride: Counts = 1,
        pad: Widths = 0,
        nobias: bool = False,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
        *,
        dilate: Counts = 1,
        groups: Count = 1,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(2, *sizes, nobias, initialW, initial_bias, dilate=dilate, groups=groups)

    def forward(self, x: Array) -> Variable:
        """Apply the layer to images (n, in_channels, h, w)."""
        self._sized(x)
        return F.convolution_2d(
            x, self.W, self.b, self.stride, self.pad, dilate=self.dilate, groups=self.groups
        )
