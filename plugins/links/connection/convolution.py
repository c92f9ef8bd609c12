"""Convolutional layers for each number of spatial axes."""

from __future__ import annotations

from typing import Any, Self

from core import Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Count, Counts, Sizes, Widths
from plugins.links.connection.windowed import Windowed, of_rank, ranked


@ranked("nd")
class ConvolutionND(Windowed):
    r"""A convolutional layer over $over.

    .. math:: y_{no\vec h} = b_o + \sum_{c\vec i} W_{oc\vec i}\,
        x_{n,c,\vec s\vec h+\vec d\vec i-\vec p}

    Args:
        ndim: Number of spatial axes.
        in_channels: Channels of the input; None, or left out (`out_channels` and `ksize` take its
            place), takes it from the first input.
        out_channels: Channels of the output.
        ksize: Size of the filters, $each.
        stride: Distance s of neighbouring windows, likewise.
        pad: Zeros p around the input, likewise.
        nobias: Whether to leave b out.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.
        cover_all: Whether the last window may hang over, so that every element is seen
            and sizes are rounded up.
        dilate: Distance d of neighbouring elements of a window, as ksize.
        groups: Into how many independent parts the channels are divided.

    Shapes: x (n, in_channels, $d) floating; W (out_channels, in_channels / groups, $k),
    b (out_channels,), y (n, out_channels, $e); each size becomes
    (size + 2p - d(k - 1) - 1) // s + 1.

    Source: LeCun, Bottou, Bengio and Haffner 1998, "Gradient-based learning applied to document
    recognition", Proceedings of the IEEE 86(11), section II; Dumoulin and Visin 2016
    (arXiv:1603.07285), section 2.

    >>> import core.links as L, numpy as np
    >>> layer = L.Convolution$RANK($axes, ksize=2)
    >>> layer(np.ones((1, 2, $5), "f")).shape
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
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
        cover_all: bool = False,
        dilate: Counts = 1,
        groups: Count = 1,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(ndim, *sizes, nobias, initialW, initial_bias, dilate, groups)
        self.cover_all = cover_all

    def forward(self, x: Array) -> Variable:
        """Apply the layer to a batch (n, in_channels, ...)."""
        self._sized(x)
        return F.convolution_nd(
            x, self.W, self.b, self.stride, self.pad, self.cover_all, self.dilate, self.groups
        )

    @classmethod
    def from_params(
        cls,
        W: Array,
        b: Array | None = None,
        stride: Counts = 1,
        pad: Widths = 0,
        nobias: bool = False,
        **settings: Any,
    ) -> Self:
        """A layer with the given filters (out, in / groups, ...) and bias (out,), copied.

        The layer has the default dtype. `settings` are further arguments of the class, such as
        dilate and groups.

        >>> import core.links as L, numpy as np
        >>> L.ConvolutionND.from_params(np.ones((2, 3, 5), "f"), pad=2).in_channels
        3
        """
        make: Any = cls  # subclasses of a fixed rank do not take it
        rank = (len(W.shape) - 2,) if cls._rank is None else ()
        channels = (W.shape[1] * settings.get("groups", 1), W.shape[0])
        arrays = {"initialW": W, "initial_bias": b, **settings}
        layer: Self = make(*rank, *channels, tuple(W.shape[2:]), stride, pad, nobias, **arrays)
        return layer


@ranked("1d")
class Convolution1D(ConvolutionND):  # noqa: D101
    __init__ = of_rank(1, ConvolutionND.__init__)


@ranked("2d")
class Convolution2D(ConvolutionND):  # noqa: D101
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


@ranked("3d")
class Convolution3D(ConvolutionND):  # noqa: D101
    __init__ = of_rank(3, ConvolutionND.__init__)
