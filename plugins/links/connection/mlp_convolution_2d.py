"""Networks of several layers in place of a filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core import ChainList, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Counts, Sizes, Widths
from plugins.links.connection.convolution import Convolution2D


class MLPConvolution2D(ChainList):
    r"""A convolution followed by convolutions with filters of one element, activations between.

    Together they apply one multi-layer perceptron to every window of the images:

    .. math:: y = W_n * a(\dots W_2 * a(W_1 * x + b_1) + b_2 \dots) + b_n

    Args:
        in_channels: Channels of the input; None, or left out (`MLPConvolution2D(out_channels,
            ksize)`), takes it from the first input.
        out_channels: Channels of the output of each convolution, a tuple.
        ksize: Height and width of the filters of the first, a pair or one number for both.
        stride: Distance of neighbouring windows, likewise.
        pad: Zeros around the input, likewise.
        activation: The function between layers; None stands for none.
        conv_init: Initializer of all W, or a number; LeCunNormal by default.
        bias_init: The same of all b; 0 by default.

    Shapes: x (n, in_channels, h, w) floating; y (n, out_channels[-1], h', w').

    Source: Lin, Chen and Yan 2014 (arXiv:1312.4400).

    >>> import core.links as L, numpy as np
    >>> layer = L.MLPConvolution2D(1, (4, 3), ksize=2)
    >>> layer(np.ones((1, 1, 4, 4), "f")).shape, len(layer)
    ((1, 3, 3, 3), 2)
    """

    @checked
    def __init__(
        self,
        in_channels: Any,
        out_channels: Sizes,
        ksize: Counts | None = None,
        stride: Counts = 1,
        pad: Widths = 0,
        activation: Callable[[Any], Any] | None = F.relu,
        conv_init: InitializerSpec = None,
        bias_init: InitializerSpec = None,
    ) -> None:
        if ksize is None:
            in_channels, out_channels, ksize = None, in_channels, out_channels
        if not isinstance(out_channels, Sequence) or not out_channels:
            raise TypeError(
                "links.MLPConvolution2D: expected out_channels to be a tuple, one number for each "
                f"layer, got {out_channels!r}."
            )
        inits: dict[str, Any] = {"initialW": conv_init, "initial_bias": bias_init}
        first = Convolution2D(in_channels, out_channels[0], ksize, stride, pad, **inits)
        pairs = zip(out_channels, out_channels[1:], strict=False)
        super().__init__(first, *[Convolution2D(i, o, 1, **inits) for i, o in pairs])
        self.activation = activation

    def forward(self, x: Array) -> Variable:
        """Apply the layers to images (n, in_channels, h, w)."""
        y: Variable = self[0](x)
        for layer in list(self)[1:]:
            y = layer(y if self.activation is None else self.activation(y))
        return y
