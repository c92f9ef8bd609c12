"""Convolution over any number of spatial axes, and its two adjoints.

The three operations are each other's derivatives, so together they have derivatives of any order:
convolution maps (x, W) to y; deconvolution maps (y, W) to x; the filter gradient maps (x, y) to W.
All three look at x through its windows: (n, channels, *kernel, *out).
"""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, choice, real
from core.arrays.windows import Geometry, per_axis, transposed_size
from core.errors import InvalidType
from core.typing import AnyArray, Array, Count, Shape, Sizes
from plugins.functions.ranks import Family, Rank
from plugins.functions.windows import expect_places, windows_fit

_SETTINGS = {
    "stride": choice(1, 2, (2, 1)),
    "pad": choice(0, 1, (0, 1)),
    "cover_all": choice(False, True),
    "dilate": choice(1, 2),
    "groups": choice(1, 2),
}


class _Windowed(FunctionNode):
    """What the three have in common: how windows lie on the input, and the groups of channels."""

    stride: Sizes = 1
    pad: Sizes = 0
    cover_all: bool = False
    dilate: Sizes = 1
    groups: Count = 1

    wide = True

    def columns(self, x: AnyArray, ksize: Shape) -> tuple[AnyArray, Shape]:
        """The windows of x by group, as matrices: (n, groups, channels * kernel, out)."""
        seen = self.backend.windows(x, ksize, self.stride, self.pad, self.dilate, self.cover_all)
        rows = x.shape[1] // self.groups * prod(ksize)
        return seen, (x.shape[0], self.groups, rows, prod(seen.shape[2 + len(ksize) :]))

    def by_group(self, W: AnyArray) -> Shape:
        """The shape of filters by group: (groups, filters, channels * kernel)."""
        return (self.groups, W.shape[0] // self.groups, prod(W.shape[1:]))

    @property
    def settings(self) -> tuple[Any, Any, Any, Any, Any]:
        return self.stride, self.pad, self.cover_all, self.dilate, self.groups


class Convolution(_Windowed):
    """Each output is the sum of products of a window of x with a filter, plus a bias."""

    domain = Domain(
        "(n,c,...s),(o,c2,...k),(o)?->(n,o,...p)",
        x=real(-2, 2),
        W=real(-1, 1, mixed=True),
        b=real(-1, 1),
        settings=_SETTINGS,
        dims={"n": (1, 2), "c": (1, 2), "c2": (1, 2), "o": (1, 2), "...s": (2, 2), "...k": (2, 2)},
        valid=(
            "x.ndim == W.ndim",
            "c == c2 * groups",
            "o % groups == 0",
            "prod(W.shape[2:]) > 0",
            windows_fit,
        ),
    )

    def compute(self, xp, x, W, b=None):
        seen, shape = self.columns(x, W.shape[2:])
        y = xp.matmul(xp.reshape(W, self.by_group(W)), xp.reshape(seen, shape))
        y = xp.reshape(y, (x.shape[0], W.shape[0], *seen.shape[W.ndim :]))
        if b is not None:
            y += xp.reshape(b, (-1, *(1,) * (W.ndim - 2)))
        return y

    def gradient_x(self, xp, g, W):
        return Deconvolution(*self.settings, size=self.input_shape(0)[2:]).evaluate(g, W)

    def gradient_W(self, xp, g, x):
        ksize = self.input_shape(1)[2:]
        return ConvolutionFilterGradient(*self.settings, ksize=ksize).evaluate(x, g)

    def gradient_b(self, xp, g):
        return xp.sum(g, axis=(0, *range(2, g.ndim)))


Convolution2DFunction = Convolution


def _spreads(f: Any, x: Any, W: Any, *b: Any) -> None:
    """Padding leaves some output, which has a window for each place of the input."""
    places, ksize = x.shape[2:], W.shape[2:]
    size = f.spread(places, ksize)
    if f.size is None and min(size, default=1) < 1:
        raise InvalidType(
            f"an output of {list(places)} spread by {list(ksize)} that padding {f.pad} leaves",
            f"{size}. Use less padding, or a greater stride.",
        )
    expect_places(x, f.geometry(size, ksize).out, size)


class Deconvolution(_Windowed):
    """Each input value spreads a filter over a window of the output: convolution's adjoint in x."""

    size: tuple[int, ...] | None = None

    domain = Domain(
        "(n,c,...s),(c,o,...k),(p)?->(n,q,...d)",
        x=real(-2, 2),
        W=real(-1, 1, mixed=True),
        b=real(-1, 1),
        settings={**_SETTINGS, "size": choice(None, None, (3, 4), (5, 3))},
        dims={"c": (1, 2), "o": (1, 2), "p": (1, 4), "...s": (2, 2), "...k": (2, 2)},
        valid=(
            "x.ndim == W.ndim",
            "c % groups == 0",
            "prod(W.shape[2:]) > 0",
            "prod(x.shape[2:]) > 0",
            "p == o * groups",
            "size is None or x.ndim == len(size) + 2",
            _spreads,
        ),
    )

    def geometry(self, size: Shape, ksize: Shape) -> Geometry:
        """How the windows lie on the output."""
        return Geometry(size, ksize, self.stride, self.pad, self.dilate, self.cover_all)

    def spread(self, x: AnyArray, ksize: Shape) -> Shape:
        """The spatial sizes of the output, from those of the input and of the filters."""
        if self.size is not None:
            return self.size
        names = ("stride", "pad", "dilate")
        steps = [per_axis(getattr(self, name), len(x), name) for name in names]
        sizes = zip(x, ksize, *steps, strict=True)
        return tuple([transposed_size(n, k, s, p, dilate=d) for n, k, s, p, d in sizes])

    def compute(self, xp, x, W, b=None):
        groups, filters, rows = self.by_group(W)
        grouped = xp.reshape(x, (x.shape[0], groups, filters, prod(x.shape[2:])))
        spread = xp.matmul(xp.matrix_transpose(xp.reshape(W, (groups, filters, rows))), grouped)
        channels = W.shape[1] * groups
        spread = xp.reshape(spread, (x.shape[0], channels, *W.shape[2:], *x.shape[2:]))
        size = self.spread(x.shape[2:], W.shape[2:])
        y = self.backend.fold(spread, size, self.stride, self.pad, self.dilate)
        return y if b is None else y + xp.reshape(b, (-1, *(1,) * (W.ndim - 2)))

    def gradient_x(self, xp, g, W):
        return Convolution(*self.settings).evaluate(g, W)

    def gradient_W(self, xp, g, x):
        ksize = self.input_shape(1)[2:]
        return ConvolutionFilterGradient(*self.settings, ksize=ksize).evaluate(g, x)

    def gradient_b(self, xp, g):
        return xp.sum(g, axis=(0, *range(2, g.ndim)))


class ConvolutionFilterGradient(_Windowed):
    """Each filter value is the sum of products of inputs and outputs that it connects."""

    ksize: tuple[int, ...] = ()

    def compute(self, xp, x, y):
        seen, (n, groups, rows, out) = self.columns(x, self.ksize)
        # One product over images and places at once: (filters, n * out) times (n * out, rows).
        seen = xp.permute_dims(xp.reshape(seen, (n, groups, rows, out)), (1, 0, 3, 2))
        y = xp.reshape(y, (n, groups, y.shape[1] // groups, out))
        filters = xp.permute_dims(y, (1, 2, 0, 3))
        W = xp.matmul(
            xp.reshape(filters, (groups, y.shape[2], n * out)),
            xp.reshape(seen, (groups, n * out, rows)),
        )
        return xp.reshape(W, (groups * y.shape[2], rows // prod(self.ksize), *self.ksize))

    def gradient_x(self, xp, g, y):
        return Deconvolution(*self.settings, size=self.input_shape(0)[2:]).evaluate(y, g)

    def gradient_y(self, xp, g, x):
        return Convolution(*self.settings).evaluate(x, g)


@Family
def convolution(  # noqa: D417
    rank: Rank,
    /,
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    cover_all: bool = False,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Convolution (cross-correlation, as networks use the word) over $over.

    Each output is the sum of products of a window of `x` with a filter, plus a bias.

    Args:
        x: Floating, (n, c, $d).
        W: Filters, (o, c / groups, $k), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: Distance of neighbouring windows, $each.
        pad: Zeros around the input, likewise.
        cover_all: Let the windows reach every element, padding the end further.
        dilate: Distance of neighbouring elements of a window, likewise.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, $e), and the dtype of `x`. Each size becomes
        floor((size + 2 pad - dilate (k - 1) - 1) / stride) + 1, rounded up with `cover_all`.

    Raises:
        InvalidType: Ranks, channels or dtypes do not fit, or windows are larger than the padded
            input.

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, $5), "f"), np.ones((3, 2, $3), "f")
    >>> F.convolution_$rank(x, W).shape
    (1, 3, $3)
    """
    x, W, ndim = rank.of(x, W)
    return Convolution.call(
        x,
        W,
        b,
        stride=rank.each(stride, ndim, "stride"),
        pad=rank.each(pad, ndim, "pad"),
        cover_all=cover_all,
        dilate=rank.each(dilate, ndim, "dilate"),
        groups=groups,
    )


convolution_1d = convolution("1d")
convolution_2d = convolution("2d", by_name=("dilate", "groups"))
convolution_3d = convolution("3d")
convolution_nd = convolution("nd")
