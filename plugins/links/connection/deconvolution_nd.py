"""Deconvolutional layers: each element is spread over a window."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.arrays.windows import per_axis
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Count, Counts, Sizes, Widths
from plugins.links.connection.windowed import Windowed, of_rank


class DeconvolutionND(Windowed):
    r"""A deconvolutional layer over any number of spatial axes.

    Each element of the input adds its multiple of a filter to a window of the output, which is the
    gradient of a convolution with respect to its input:

    .. math:: y_{n,o,\vec s\vec h+\vec d\vec i-\vec p} = b_o
        + \sum_{c,\vec h,\vec i} W_{co\vec i}\, x_{nc\vec h}

    Args:
        ndim: Number of spatial axes.
        in_channels: Channels of the input; None, or left out (`DeconvolutionND(ndim,
            out_channels, ksize)`), takes it from the first input.
        out_channels: Channels of the output.
        ksize: Sizes of the filters, one for each axis or one number for all.
        stride: Distances s of neighbouring windows, likewise.
        pad: Elements p that are cut off around the output, likewise.
        nobias: Whether to leave b out.
        outsize: Lengths of the output along the spatial axes; None takes the least possible, s (h -
            1) + d (k - 1) + 1 - 2 p.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.
        dilate: Distances d of neighbouring elements of a window, as ksize.
        groups: Into how many independent parts the channels are divided.

    Shapes: x (n, in_channels, ...) floating, with ndim axes more; W (in_channels, out_channels /
    groups, *ksize), b (out_channels,), y (n, out_channels, *outsize).

    Source: Dumoulin and Visin 2016 (arXiv:1603.07285), section 4.

    >>> import core.links as L, numpy as np
    >>> layer = L.DeconvolutionND(3, 1, 2, ksize=2)
    >>> layer(np.ones((1, 1, 3, 3, 3), "f")).shape
    (1, 2, 4, 4, 4)
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


class Deconvolution1D(DeconvolutionND):
    """A deconvolutional layer along one axis.

    It is `DeconvolutionND` with ndim = 1: formula, source and the other arguments are those.

    Shapes: x (n, in_channels, l) floating; W (in_channels, out_channels / groups, k), b
    (out_channels,), y (n, out_channels, l').

    >>> import core.links as L, numpy as np
    >>> L.Deconvolution1D(2, 3, ksize=2)(np.ones((1, 2, 5), "f")).shape
    (1, 3, 6)
    """

    __init__ = of_rank(1, DeconvolutionND.__init__)


class Deconvolution3D(DeconvolutionND):
    """A deconvolutional layer to volumes.

    It is `DeconvolutionND` with ndim = 3: formula, source and the other arguments are those.

    Shapes: x (n, in_channels, d, h, w) floating; W (in_channels, out_channels / groups, kd, kh,
    kw), b (out_channels,), y (n, out_channels, d', h', w').

    >>> import core.links as L, numpy as np
    >>> L.Deconvolution3D(2, 3, ksize=2)(np.ones((1, 2, 3, 3, 3), "f")).shape
    (1, 3, 4, 4, 4)
    """

    __init__ = of_rank(3, DeconvolutionND.__init__)
