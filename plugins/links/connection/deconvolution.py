"""Deconvolutional layers: each element is spread over a window."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.arrays.windows import per_axis
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Count, Counts, Sizes, Widths
from plugins.links.connection.windowed import Windowed, of_rank, ranked


@ranked("nd")
class DeconvolutionND(Windowed):
    r"""A deconvolutional layer over $over.

    Each element of the input adds its multiple of a filter to a window of the output, which is the
    gradient of a convolution with respect to its input:

    .. math:: y_{n,o,\vec s\vec h+\vec d\vec i-\vec p} = b_o
        + \sum_{c,\vec h,\vec i} W_{co\vec i}\, x_{nc\vec h}

    Args:
        ndim: Number of spatial axes.
        in_channels: Channels of the input; None, or left out (`out_channels` and `ksize` take its
            place), takes it from the first input.
        out_channels: Channels of the output.
        ksize: Size of the filters, $each.
        stride: Distance s of neighbouring windows, likewise.
        pad: Elements p that are cut off around the output, likewise.
        nobias: Whether to leave b out.
        outsize: Size of the output, likewise; None takes the least possible, s (size - 1) +
            d (k - 1) + 1 - 2p.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.
        dilate: Distance d of neighbouring elements of a window, as ksize.
        groups: Into how many independent parts the channels are divided.

    Shapes: x (n, in_channels, $d) floating; W (in_channels, out_channels / groups, $k),
    b (out_channels,), y (n, out_channels, *outsize).

    Source: Zeiler et al. 2010, "Deconvolutional networks", CVPR; Dumoulin and Visin 2016
    (arXiv:1603.07285), section 4.

    >>> import core.links as L, numpy as np
    >>> layer = L.Deconvolution$RANK($axes, ksize=2)
    >>> layer(np.ones((1, 2, $3), "f")).shape
    (1, 3, $4)
    """

    @checked
    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: Sizes,
        ksize: Counts | None = None,
        stride: Counts = 1,
        pad: Widths = 0,
        nobias: bool = False,
        outsize: Sizes | None = None,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
        dilate: Counts = 1,
        groups: Count = 1,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(ndim, *sizes, nobias, initialW, initial_bias, dilate, groups)
        self.outsize = None if outsize is None else per_axis(outsize, ndim, "outsize")

    def _filter_shape(self, in_channels: int) -> tuple[int, ...]:
        return (in_channels, self.out_channels // self.groups, *self.ksize)

    def forward(self, x: Array) -> Variable:
        """Apply the layer to a batch (n, in_channels, ...)."""
        self._sized(x)
        return F.deconvolution_nd(
            x, self.W, self.b, self.stride, self.pad, self.outsize, self.dilate, self.groups
        )


@ranked("1d")
class Deconvolution1D(DeconvolutionND):  # noqa: D101
    __init__ = of_rank(1, DeconvolutionND.__init__)


@ranked("2d")
class Deconvolution2D(DeconvolutionND):  # noqa: D101
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


@ranked("3d")
class Deconvolution3D(DeconvolutionND):  # noqa: D101
    __init__ = of_rank(3, DeconvolutionND.__init__)
