"""The opposite of pooling: each element fills a window."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, choice, real
from core.arrays.windows import Geometry, per_axis, transposed_size
from core.errors import InvalidType
from core.typing import Array, Shape, Sizes
from plugins.functions.pooling.average_pooling import average_over
from plugins.functions.ranks import Family, Rank
from plugins.functions.windows import (
    OVER_AXES,
    ImageWindows,
    _OverAxes,
    expect_axes,
    expect_places,
    ndim_of_x,
)


def fills(f: Any, x: Any) -> None:
    """A rule of domains: padding leaves an output, with a window for each place of the input."""
    expect_axes(x)
    size = f.size(x.shape[2:])
    if f.outsize is None and any([s < 0 for n, s in zip(x.shape[2:], size, strict=True) if n]):
        raise InvalidType(
            f"an output of {list(x.shape[2:])} spread by {f.ksize} that padding {f.pad} leaves",
            f"{size}. Use less padding, or a greater stride.",
        )
    expect_places(x, f.windows_on(size), size)


def has_elements(f: Any, x: Any) -> None:
    """A rule for drawn cases: neither x nor the output is empty, of which pooling has no mean."""
    if min((*x.shape[2:], *f.size(x.shape[2:]))) < 1:
        raise InvalidType("images with elements", f"{x.shape}")


class _Spreading(FunctionNode):
    """How windows lie on an output: what unpooling and upsampling have in common.

    A subclass has the settings `ksize`, `stride`, `pad`, `outsize` and `cover_all`.
    """

    def prepare(self: Any) -> None:
        self.stride = self.ksize if self.stride is None else self.stride

    def size(self: Any, shape: Shape) -> Shape:
        """The spatial sizes of the output, from those of the input."""
        if self.outsize is not None:
            return per_axis(self.outsize, len(shape), "outsize")
        names = ("ksize", "stride", "pad")
        steps = [per_axis(getattr(self, name), len(shape), name) for name in names]
        each = zip(shape, *steps, strict=True)
        return tuple([transposed_size(n, k, s, p, self.cover_all) for n, k, s, p in each])

    def nothing(self: Any, xp: Any, g: Any) -> Any:
        """The gradient of images without elements."""
        return xp.zeros(self.input_shape(0), dtype=g.dtype, device=g.device)

    def windows_on(self: Any, size: Shape) -> Shape:
        """How many windows an output of this size has along each axis."""
        return Geometry(size, self.ksize, self.stride, self.pad, 1, self.cover_all).out


class _Unpooling(_Spreading):
    """Each element at every place of its window, elements of windows that overlap summed."""

    ksize: Sizes
    stride: Sizes | None = None
    pad: Sizes = 0
    outsize: Sizes | None = None
    cover_all: bool = True

    wide = True

    def compute(self: Any, xp, x):
        ksize = per_axis(self.ksize, x.ndim - 2, "ksize")
        lone = xp.reshape(x, (*x.shape[:2], *(1,) * len(ksize), *x.shape[2:]))
        filled = xp.broadcast_to(lone, (*x.shape[:2], *ksize, *x.shape[2:]))
        return self.backend.fold(filled, self.size(x.shape[2:]), self.stride, self.pad)

    def gradient(self, xp, g):
        if 0 in self.input_shape(0):  # whose windows pooling would not find again
            return self.nothing(xp, g)
        ndim = g.ndim - 2
        mean = average_over(ndim, self.ksize, self.stride, self.pad, self.cover_all).evaluate(g)
        return mean * float(prod(per_axis(self.ksize, ndim, "ksize")))


class Unpooling2D(ImageWindows, _Unpooling):
    """Each element of images at every place of its window."""

    domain = Domain(
        "(n,c,h,w)->(n,c,p,q)",
        x=real(-3, 3),
        settings={
            "ksize": choice(2, 3, (2, 1)),
            "stride": choice(None, 1, 2),
            "pad": choice(0, 1),
            "outsize": choice(None, None, (3, 4)),
            "cover_all": choice(True, False),
        },
        dims={"h": (1, 3), "w": (1, 3)},
        valid=fills,
        drawn=has_elements,
    )


class UnpoolingND(_Unpooling, _OverAxes):
    """Each element at every place of its window, over any number of spatial axes."""

    domain = Domain(
        "(n,c,...s)->(n,c,...p)",
        x=real(-3, 3),
        settings=Unpooling2D.domain.settings
        | {"ndim": ndim_of_x(), "ksize": choice(2, 3), "outsize": choice(None, None, 3)},
        dims={"...s": (1, 3)},
        valid=(OVER_AXES, fills),
        drawn=has_elements,
    )

    @property
    def outs(self) -> tuple[int, ...] | None:
        """The sizes of the output, as far as they are set."""
        return None if self.outsize is None else per_axis(self.outsize, self.ndim, "outsize")


@Family
def unpooling(  # noqa: D417
    rank: Rank,
    /,
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sizes | None = None,
    cover_all: bool = True,
) -> Variable:
    """Spread each element over a window, the opposite of pooling over $over.

    Where windows overlap the elements are summed: average pooling's gradient but for a factor.

    Args:
        x: Floating, (n, c, $d).
        ksize: Size of the windows, $each.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes ($e) of the output, None for the least. Pooling of an
            array of these sizes has to give those of `x`.
        cover_all: Whether that pooling is one that covers all elements, so that the last window
            may reach over the end.

    Returns:
        (n, c, $e), and the dtype of `x`; by default each size becomes
        stride (size - 1) + ksize - 2 pad, with `cover_all` less by stride - 1.

    Raises:
        InvalidType: `x` is not floating, has other axes, or does not fit `outsize`.

    >>> import core.functions as F, numpy as np
    >>> F.unpooling_$rank(np.ones((1, 1, $3), "f"), 2, outsize=6).shape
    (1, 1, $6)
    """
    x, ksize, ndim = rank.windows(x, ksize)
    settings = (ksize, stride, pad, outsize, cover_all)
    return Unpooling2D.call(x, *settings) if ndim == 2 else UnpoolingND.call(x, ndim, *settings)


unpooling_1d = unpooling("1d")
unpooling_2d = unpooling("2d")
unpooling_3d = unpooling("3d")
unpooling_nd = unpooling("nd")
