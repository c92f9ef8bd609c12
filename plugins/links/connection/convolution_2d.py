"""The convolutional layer over images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from core import Link, Parameter, Variable
from core import functions as F
from core.standard import per_axis
from plugins.links import arguments

Size = int | tuple[int, int]


class Convolution2D(Link):
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

    >>> import core.links as L, numpy as np
    >>> layer = L.Convolution2D(1, 3, ksize=2, initialW=1)
    >>> layer(np.ones((1, 1, 4, 4), "f")).shape
    (1, 3, 3, 3)
    """

    b: Parameter | None

    def __init__(
        self,
        in_channels: int | None,
        out_channels: Any,
        ksize: Size | None = None,
        stride: Size = 1,
        pad: Size = 0,
        nobias: bool = False,
        initialW: Any = None,
        initial_bias: Any = None,
        *,
        dilate: Size = 1,
        groups: int = 1,
        **former: Any,
    ) -> None:
        arguments.refuse("Convolution2D", former)
        super().__init__()
        if ksize is None:
            in_channels, out_channels, ksize = None, in_channels, out_channels
        if out_channels is None or ksize is None:
            raise TypeError("links.Convolution2D: expected out_channels and ksize, got None.")
        self.in_channels = in_channels
        self.out_channels = int(out_channels)
        self.ksize = per_axis(ksize, 2, "ksize")
        self.stride = per_axis(stride, 2, "stride")
        self.pad = per_axis(pad, 2, "pad")
        self.dilate = per_axis(dilate, 2, "dilate")
        self.groups = groups
        self.b = None
        with self.init_scope():
            self.W = Parameter(arguments.weight(initialW))
            if not nobias:
                self.b = Parameter(arguments.bias(initial_bias), (self.out_channels,))
        if in_channels is not None:
            self._initialize(in_channels)

    def _initialize(self, in_channels: int) -> None:
        for name, channels in (("input", in_channels), ("output", self.out_channels)):
            if channels % self.groups:
                raise ValueError(
                    f"links.Convolution2D: expected {name} channels that {self.groups} groups "
                    f"divide, got {channels}."
                )
        self.in_channels = in_channels
        self.W.initialize((self.out_channels, in_channels // self.groups, *self.ksize))

    def forward(self, x: Any) -> Variable:
        """Apply the layer to images (n, in_channels, h, w)."""
        if not self.W.is_initialized:
            self._initialize(x.shape[1])
        return F.convolution_2d(
            x, self.W, self.b, self.stride, self.pad, dilate=self.dilate, groups=self.groups
        )

    @classmethod
    def from_params(
        cls,
        W: Any,
        b: Any = None,
        stride: Size = 1,
        pad: Size = 0,
        nobias: bool = False,
        *,
        dilate: Size = 1,
        groups: int = 1,
    ) -> Self:
        """A layer with the given filters (out, in / groups, kh, kw) and bias (out,), copied.

        >>> import core.links as L, numpy as np
        >>> L.Convolution2D.from_params(np.ones((2, 3, 5, 5), "f"), pad=2).in_channels
        3
        """
        return cls(
            W.shape[1] * groups,
            W.shape[0],
            tuple(W.shape[2:]),
            stride,
            pad,
            nobias,
            W,
            b,
            dilate=dilate,
            groups=groups,
        )

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """Sizes, and how windows lie where that is not the plain way."""
        yield "in_channels", self.in_channels, 0
        yield "out_channels", self.out_channels, 0
        yield "ksize", self.ksize, None
        yield "stride", self.stride, (1, 1)
        yield "pad", self.pad, (0, 0)
        yield "nobias", self.b is None, False
        yield "dilate", self.dilate, (1, 1)
        yield "groups", self.groups, 1
