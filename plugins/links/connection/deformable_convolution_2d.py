"""The convolutional layer over images with learnable offsets of its windows."""

from __future__ import annotations

from typing import Any

from core import Chain, Variable
from core import functions as F
from core.arrays.windows import per_axis
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Counts, Widths
from plugins.links.connection.convolution import Convolution2D


class _Sampled(Convolution2D):
    """A convolution whose windows are moved element by element."""

    def forward(self, x: Array, offset: Any = 0) -> Variable:
        """Apply the layer to images and offsets (n, 2 kh kw, h', w')."""
        self._sized(x)
        return F.deformable_convolution_2d_sampler(x, offset, self.W, self.b, self.stride, self.pad)


class DeformableConvolution2D(Chain):
    r"""A deformable convolutional layer over images.

    One convolution finds how far each element of each window of a second one is moved:

    .. math:: y(p) = b + \sum_k W_k \, x(p + p_k + \Delta p_k)

    for a window at p with elements at :math:`p + p_k`; between pixels x is interpolated.

    Args:
        in_channels: Channels of the input; None takes it from the first input.
        out_channels: Channels of the output.
        ksize: Height and width of the filters of both, a pair or one number for both axes.
        stride: Distance of neighbouring windows, likewise.
        pad: Zeros around the input, likewise.
        offset_nobias: Whether the first has no bias.
        offset_initialW: Initializer of its W, a number or an array; LeCunNormal by default.
        offset_initial_bias: The same of its b; 0 by default.
        deform_nobias: Whether the second has no bias.
        deform_initialW: Initializer of its W; LeCunNormal by default.
        deform_initial_bias: The same of its b; 0 by default.

    Its children are `offset_conv` and `deform_conv`. Shapes: x (n, in_channels, h, w) floating; y
    (n, out_channels, h', w').

    Source: Dai et al. 2017 (arXiv:1703.06211), section 2.1.

    >>> import core.links as L, numpy as np
    >>> layer = L.DeformableConvolution2D(2, 3, ksize=3, pad=1)
    >>> layer(np.ones((1, 2, 5, 5), "f")).shape
    (1, 3, 5, 5)
    """

    @checked
    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: Counts,
        stride: Counts = 1,
        pad: Widths = 0,
        offset_nobias: bool = False,
        offset_initialW: InitializerSpec = None,
        offset_initial_bias: InitializerSpec = None,
        deform_nobias: bool = False,
        deform_initialW: InitializerSpec = None,
        deform_initial_bias: InitializerSpec = None,
    ) -> None:
        super().__init__()
        kh, kw = per_axis(ksize, 2, "ksize")
        windows = ((kh, kw), stride, pad)
        offset = (offset_nobias, offset_initialW, offset_initial_bias)
        deform = (deform_nobias, deform_initialW, deform_initial_bias)
        with self.init_scope():
            self.offset_conv = Convolution2D(in_channels, 2 * kh * kw, *windows, *offset)
            self.deform_conv = _Sampled(in_channels, out_channels, *windows, *deform)

    def forward(self, x: Array) -> Variable:
        """Apply the layer to images (n, in_channels, h, w)."""
        y: Variable = self.deform_conv(x, self.offset_conv(x))
        return y
