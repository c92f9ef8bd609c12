"""The convolutional layer over images that keeps channels separate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.arrays.windows import per_axis
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Counts, Widths
from plugins.links import arguments
from plugins.links.connection.windowed import shown


class DepthwiseConvolution2D(Link):
    r"""A convolutional layer with separate filters for each channel.

    .. math:: y_{n,cm+o,h,w} = b_{cm+o} + \sum_{ij} W_{ocij}\, x_{n,c,sh+i-p,sw+j-p}

    Args:
        in_channels: Channels of the input; None takes it from the first input.
        channel_multiplier: Filters m for each channel.
        ksize: Height and width of the filters, a pair or one number for both.
        stride: Distance s of neighbouring windows, likewise.
        pad: Zeros p around the input, likewise.
        nobias: Whether to leave b out.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.

    Shapes: x (n, in_channels, h, w) floating; W (m, in_channels, kh, kw), b (in_channels m,), y
    (n, in_channels m, h', w').

    Source: Chollet 2017 (arXiv:1610.02357).

    >>> import core.links as L, numpy as np
    >>> layer = L.DepthwiseConvolution2D(3, 2, ksize=2)
    >>> layer(np.ones((1, 3, 4, 4), "f")).shape
    (1, 6, 3, 3)
    """

    b: Parameter | None

    @checked
    def __init__(
        self,
        in_channels: int | None,
        channel_multiplier: int,
        ksize: Counts,
        stride: Counts = 1,
        pad: Widths = 0,
        nobias: bool = False,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
    ) -> None:
        super().__init__()
        self.channel_multiplier = channel_multiplier
        self.ksize = per_axis(ksize, 2, "ksize")
        self.stride = per_axis(stride, 2, "stride")
        self.pad = per_axis(pad, 2, "pad")
        self.b = None
        with self.init_scope():
            self.W = Parameter(arguments.weight(initialW))
            if not nobias:
                self.b = Parameter(arguments.bias(initial_bias))
        if in_channels is not None:
            self._initialize_params(in_channels)

    def _initialize_params(self, in_channels: int) -> None:
        self.W.initialize((self.channel_multiplier, in_channels, *self.ksize))
        if self.b is not None:
            self.b.initialize((in_channels * self.channel_multiplier,))

    def forward(self, x: Array) -> Variable:
        """Apply the layer to images (n, in_channels, h, w)."""
        last = self.W if self.b is None else self.b
        if not last.is_initialized:
            arguments.check_rank(self, x, 4)
            self._initialize_params(x.shape[1])
        return F.depthwise_convolution_2d(x, self.W, self.b, self.stride, self.pad)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """Sizes, and how windows lie where that is not the plain way."""
        yield "channel_multiplier", self.channel_multiplier, 0
        yield "ksize", shown(self.ksize), None
        yield "stride", shown(self.stride), 1
        yield "pad", shown(self.pad), 0
        yield "nobias", self.b is None, False
