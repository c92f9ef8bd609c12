"""The layer over images with different filters at each place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.arrays.windows import per_axis, window_count
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Counts, Sizes
from plugins.links import arguments
from plugins.links.connection.windowed import shown


class LocalConvolution2D(Link):
    r"""A locally connected layer over images: a convolution whose filters depend on the place.

    .. math:: y_{nohw} = b_{ohw} + \sum_{cij} W_{ohwcij}\, x_{n,c,sh+i,sw+j}

    Args:
        in_channels: Channels of the input; None takes it from the first input.
        out_channels: Channels of the output.
        in_size: Height and width of the input, a pair or one number for both; None takes them from
            the first input.
        ksize: Height and width of the filters, likewise.
        stride: Distance s of neighbouring windows, likewise.
        nobias: Whether to leave b out.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.

    Shapes: x (n, in_channels, h, w) floating; W (out_channels, h', w', in_channels, kh, kw), b
    (out_channels, h', w'), y (n, out_channels, h', w') with h' = (h - kh) // s + 1.

    Source: LeCun 1989, "Generalization and network design strategies", section 6.2.

    >>> import core.links as L, numpy as np
    >>> layer = L.LocalConvolution2D(1, 3, in_size=4, ksize=2)
    >>> layer(np.ones((1, 1, 4, 4), "f")).shape
    (1, 3, 3, 3)
    """

    b: Parameter | None

    @checked
    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        in_size: Sizes | None = None,
        ksize: Counts | None = None,
        stride: Counts = 1,
        nobias: bool = False,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
    ) -> None:
        super().__init__()
        if ksize is None:
            raise TypeError("links.LocalConvolution2D: expected a ksize, got None.")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.ksize = per_axis(ksize, 2, "ksize")
        self.stride = per_axis(stride, 2, "stride")
        self.b = None
        with self.init_scope():
            self.W = Parameter(arguments.weight(initialW))
            if not nobias:
                self.b = Parameter(arguments.bias(initial_bias))
        if in_channels is not None and in_size is not None:
            self._initialize_params(in_channels, per_axis(in_size, 2, "in_size"))

    def _initialize_params(self, in_channels: int, in_size: tuple[int, ...]) -> None:
        self.in_channels = in_channels
        axes = zip(in_size, self.ksize, self.stride, strict=True)
        places = (self.out_channels, *[window_count(s, k, stride, 0) for s, k, stride in axes])
        self.W.initialize((*places, in_channels, *self.ksize))
        if self.b is not None:
            self.b.initialize(places)

    def forward(self, x: Array) -> Variable:
        """Apply the layer to images (n, in_channels, h, w)."""
        last = self.W if self.b is None else self.b
        if not last.is_initialized:
            arguments.check_rank(self, x, 4)
            self._initialize_params(x.shape[1], tuple(x.shape[2:]))
        return F.local_convolution_2d(x, self.W, self.b, self.stride)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """Sizes, and how windows lie where that is not the plain way."""
        yield "in_channels", self.in_channels, 0
        yield "out_channels", self.out_channels, 0
        yield "ksize", shown(self.ksize), None
        yield "stride", shown(self.stride), 1
        yield "nobias", self.b is None, False
