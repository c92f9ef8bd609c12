"""The windows of images as columns."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, choice, real
from core.arrays.windows import per_axis
from core.typing import Pair
from plugins.functions.derived import function_of
from plugins.functions.windows import ImageWindows, windows_fit


class _Columns(FunctionNode):
    """What both directions know of the windows."""

    ksize: Pair
    stride: Pair = 1
    pad: Pair = 0
    cover_all: bool = False
    dilate: Pair = 1

    def prepare(self) -> None:
        for name in ("ksize", "stride", "pad", "dilate"):
            setattr(self, name, per_axis(getattr(self, name), 2, name))

    @property
    def settings(self) -> tuple[Any, Any, Any, Any, Any]:
        return self.ksize, self.stride, self.pad, self.cover_all, self.dilate


class Im2Col(ImageWindows, _Columns):
    """Arrange the windows of images as columns, as a convolution sees them.

    The gradient's columns are added up where they came from.

    Args:
        x: Images (n, c, h, w), floating.
        ksize: Height and width of a window, a pair or an int.
        stride: How far apart windows are, a pair or an int.
        pad: How many zeros go around the images, a pair or an int.
        cover_all: Whether the last windows reach every pixel.
        dilate: How far apart the pixels of a window are, a pair or an int.

    Returns:
        (n, c kh kw, out_h, out_w), and the dtype of `x`: channel by channel, then row by row, the
        pixels of the window at each place.

    Raises:
        InvalidType: `x` has no four axes, or is not floating.
        ValueError: Not one window fits.

    >>> import core.functions as F, numpy as np
    >>> x = np.arange(9, dtype="f").reshape(1, 1, 3, 3)
    >>> F.im2col(x, 2).array[0, :, 0, 1]
    array([1., 2., 4., 5.], dtype=float32)
    """

    domain = Domain(
        "(n,c,h,w)->(n,d,p,q)",
        x=real(-3, 3),
        settings={
            "ksize": choice(1, 2, (3, 2)),
            "stride": choice(1, 2, (2, 1)),
            "pad": choice(0, 1, (0, 1)),
            "cover_all": choice(False, True),
            "dilate": choice(1, 2),
        },
        dims={"n": (1, 2), "c": (1, 2), "h": (1, 5), "w": (1, 5)},
        valid=windows_fit,
    )

    def compute(self, xp, x):
        seen = self.backend.windows(
            x, self.ksize, self.stride, self.pad, self.dilate, self.cover_all
        )
        n, c, kh, kw, p, q = seen.shape
        return xp.reshape(seen, (n, c * kh * kw, p, q))

    def gradient(self, xp, g):
        return Col2Im(*self.settings, size=self.input_shape(0)[2:]).evaluate(g)


class Col2Im(_Columns):
    """Columns added up into images of a size: the adjoint of Im2Col."""

    size: tuple[int, ...] = (1, 1)
    wide = True

    def compute(self: Any, xp, x):
        n, c, p, q = x.shape
        kh, kw = self.ksize
        seen = xp.reshape(x, (n, c // (kh * kw), kh, kw, p, q))
        return self.backend.fold(seen, self.size, self.stride, self.pad, self.dilate)

    def gradient(self, xp, g):
        return Im2Col(*self.settings).evaluate(g)


im2col = function_of(Im2Col, "im2col")
