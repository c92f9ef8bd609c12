"""Pooling over images, as links."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Count, Width
from plugins.links.function_link import FunctionLink

CountPair = Count | tuple[Count, Count]


class MaxPooling2D(FunctionLink):
    r"""Take the greatest element of each window over images: `F.max_pooling_2d` as a link.

    .. math:: y_{nchw} = \max_{i, j} x_{n\, c,\, s h + i - p,\, s w + j - p}

    Args:
        ksize: Pair of the windows, one number or (rows, columns).
        stride: Distance s of the windows; None takes that at which they touch.
        pad: Width p of the border around the image.
        cover_all: Whether windows may reach over the border, so that no pixel is left out.

    Shapes: x (n, c, h, w) floating; y (n, c, h', w').

    Source: Riesenhuber and Poggio 1999, Nature Neuroscience 2.

    >>> import core.links as L, numpy as np
    >>> L.MaxPooling2D(2)(np.arange(4, dtype="f").reshape(1, 1, 2, 2))
    variable([[[[3.]]]], dtype=float32)
    """

    ksize: CountPair
    stride: CountPair | None = None
    pad: Width | tuple[Width, Width] = 0
    cover_all: bool = True

    def forward(self, x: Array) -> Variable:
        """Apply it to x (n, c, h, w)."""
        y: Variable = F.max_pooling_2d(x, self.ksize, self.stride, self.pad, self.cover_all)
        return y


class AveragePooling2D(FunctionLink):
    r"""Take the mean of each window over images: `F.average_pooling_2d` as a link.

    .. math:: y_{nchw} = \frac{1}{k^2} \sum_{i, j} x_{n\, c,\, s h + i - p,\, s w + j - p}

    Args:
        ksize: Pair k of the windows, one number or (rows, columns).
        stride: Distance s of the windows; None takes that at which they touch.
        pad: Width p of the border of zeros around the image.

    Shapes: x (n, c, h, w) floating; y (n, c, h', w').

    Source: LeCun et al. 1998, Proceedings of the IEEE 86, section II.

    >>> import core.links as L, numpy as np
    >>> L.AveragePooling2D(2)(np.arange(4, dtype="f").reshape(1, 1, 2, 2))
    variable([[[[1.5]]]], dtype=float32)
    """

    ksize: CountPair
    stride: CountPair | None = None
    pad: Width | tuple[Width, Width] = 0

    def forward(self, x: Array) -> Variable:
        """Apply it to x (n, c, h, w)."""
        return F.average_pooling_2d(x, self.ksize, self.stride, self.pad)
