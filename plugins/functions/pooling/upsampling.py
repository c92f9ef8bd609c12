"""Max pooling undone: each element goes where the maximum of its window was."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, Variable, as_array, choice, real
from core.arrays.windows import per_axis
from core.errors import InvalidType
from core.errors.removed import removed
from core.typing import Array, Sizes
from plugins.functions.labels import refuse_outside
from plugins.functions.pooling.max_pooling import MaxPoolingGradient, MaxPoolingPick
from plugins.functions.pooling.unpooling import _Spreading, fills, has_elements
from plugins.functions.windows import ImageWindows


def _places(shape: tuple[int, ...], start: int = 0) -> Any:
    """Nested tuples of this shape of zeros and ones, which are places in any window of two."""
    if not shape:
        return start // 2 % 2
    return tuple([_places(shape[1:], start + i * prod(shape[1:])) for i in range(shape[0])])


def _indexes_fit(f: Any, x: Any) -> None:
    shape = getattr(f.indexes, "shape", x.shape)
    if shape != x.shape:
        raise InvalidType("x.shape == indexes.shape", f"{x.shape} != {shape}")


class Upsampling2D(ImageWindows, _Spreading):
    """Each element at the place of its window that its index names; meeting elements are summed."""

    indexes: Any
    ksize: Sizes
    stride: Sizes | None = None
    pad: Sizes = 0
    outsize: Sizes | None = None
    cover_all: bool = True

    wide = True
    domain = Domain(
        "(n,c,h,w)->(n,c,p,q)",
        x=real(-3, 3),
        settings={
            "indexes": choice(lambda shapes: [_places(shapes["x"])]),
            "ksize": choice(2, 3, (2, 1)),
            "stride": choice(None, 1, 2),
            "pad": choice(0, 1),
            "outsize": choice(None, None, (3, 4)),
            "cover_all": choice(True, False),
        },
        dims={"n": (1, 2), "c": (1, 2), "h": (1, 3), "w": (1, 3)},
        valid=(fills, _indexes_fit),
        drawn=has_elements,
    )

    def windows(self) -> dict[str, Any]:
        """What max pooling and its adjoints take, with the indexes as an array."""
        indexes = self.backend.asarray(as_array(self.indexes))
        return {
            "ksize": self.ksize,
            "stride": self.stride,
            "pad": self.pad,
            "cover_all": self.cover_all,
            "indexes": indexes,
        }

    def compute(self, xp, x):
        windows, count = self.windows(), prod(per_axis(self.ksize, 2, "ksize"))
        cure = "They are numbers of elements of a window."
        refuse_outside("Upsampling2D", self.backend, "indexes", windows["indexes"], count, cure)
        return MaxPoolingGradient(**windows, size=self.size(x.shape[2:])).evaluate(x)

    def gradient(self, xp, g):
        if 0 in self.input_shape(0):
            return self.nothing(xp, g)
        return MaxPoolingPick(**self.windows()).evaluate(g)


@removed()
def upsampling_2d(
    x: Array,
    indexes: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sizes | None = None,
    cover_all: bool = True,
) -> Variable:
    """Put each element where the maximum of its window was, zeros elsewhere.

    Args:
        x: Floating, (n, c, h, w).
        indexes: Places in the windows, row by row, an array of integers of the shape of `x`:
            what `max_pooling_2d` gives with `return_indices=True`.
        ksize: Size of the windows, for each axis or for both.
        stride: Distance of neighbouring windows; None takes `ksize`.
        pad: How much is cut off each end of the output.
        outsize: Height and width of the output, those of what was pooled. None takes the least.
        cover_all: As that pooling had it.

    Returns:
        (n, c, *outsize). Where windows overlap, elements that meet are summed.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    Source: Badrinarayanan, Handa and Cipolla 2015 (arXiv:1505.07293), section 1.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[[[1, 2], [4, 3]]]], "f")
    >>> y, indexes = F.max_pooling_2d(x, 2, return_indices=True)
    >>> F.upsampling_2d(y, indexes, 2, outsize=(2, 2))
    variable([[[[0., 0.],
                [4., 0.]]]], dtype=float32)
    """
    ksize = per_axis(ksize, 2, "upsampling_2d: ksize")
    node = Upsampling2D(indexes, ksize, stride, pad, outsize, cover_all)
    return node.apply((x,))[0]
