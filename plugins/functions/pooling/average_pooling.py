"""The mean of each window, padding counted as zeros."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, choice, real
from core.arrays.windows import per_axis
from core.typing import Array, Sizes
from plugins.functions.ranks import Family, Rank
from plugins.functions.windows import (
    OVER_AXES,
    ImageWindows,
    _OverAxes,
    ndim_of_x,
    windows_fit,
)


class _AveragePooling(FunctionNode):
    """What average pooling and its adjoint know of their windows."""

    ksize: Sizes
    stride: Sizes | None = None
    pad: Sizes = 0
    cover_all: bool = False

    wide = True

    def prepare(self) -> None:
        self.stride = self.ksize if self.stride is None else self.stride

    @property
    def settings(self) -> tuple[Any, Any, Any, Any]:
        return self.ksize, self.stride, self.pad, self.cover_all


class _Average(_AveragePooling):
    """The sum over each window divided by the window's size."""

    def compute(self: Any, xp, x):
        ksize = per_axis(self.ksize, x.ndim - 2, "ksize")
        seen = self.backend.windows(x, ksize, self.stride, self.pad, 1, self.cover_all)
        inside, out = prod(ksize), prod(seen.shape[2 + len(ksize) :])
        if inside > out:  # few large windows
            return xp.mean(seen, axis=tuple(range(2, 2 + len(ksize))))
        places = product(*map(range, ksize))
        parts = [seen[(slice(None), slice(None), *place, ...)] for place in places]
        total = parts[0] + 0
        for part in parts[1:]:
            total += part
        return total / float(inside)

    def gradient(self, xp, g):
        size = self.input_shape(0)[2:]
        return AveragePoolingGradient(*self.settings, size=size).evaluate(g)


class AveragePooling2D(ImageWindows, _Average):
    """The mean over each window of images."""

    cover_all: bool = True

    domain = Domain(
        "(n,c,h,w)->(n,c,p,q)",
        x=real(-3, 3),
        settings={
            "ksize": choice(2, 3, (2, 1)),
            "stride": choice(None, 1, 2),
            "pad": choice(0, 1),
            "cover_all": choice(False, True),
        },
        dims={"h": (1, 5), "w": (1, 5)},
        valid=windows_fit,
    )


class AveragePoolingND(_Average, _OverAxes):
    """The mean over each window, over any number of spatial axes."""

    domain = Domain(
        "(n,c,...s)->(n,c,...p)",
        x=real(-3, 3),
        settings=AveragePooling2D.domain.settings | {"ndim": ndim_of_x(), "ksize": choice(2, 3)},
        dims={"...s": (1, 3)},
        valid=(OVER_AXES, windows_fit),
    )


class AveragePoolingGradient(_AveragePooling):
    """Each value spread evenly over its window: the adjoint of average pooling."""

    size: tuple[int, ...] = ()

    def compute(self: Any, xp, g):
        ksize = per_axis(self.ksize, g.ndim - 2, "ksize")
        lone = xp.reshape(g / float(prod(ksize)), (*g.shape[:2], *(1,) * len(ksize), *g.shape[2:]))
        cols = xp.broadcast_to(lone, (*g.shape[:2], *ksize, *g.shape[2:]))
        return self.backend.fold(cols, self.size, self.stride, self.pad)

    def gradient(self, xp, g):
        return average_over(g.ndim - 2, *self.settings).evaluate(g)


def average_over(ndim: int, *settings: Any) -> FunctionNode:
    """Average pooling over that many spatial axes."""
    return AveragePooling2D(*settings) if ndim == 2 else AveragePoolingND(ndim, *settings)


@Family
def average_pooling(  # noqa: D417
    rank: Rank,
    /,
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    pad_value: float | None = 0,
) -> Variable:
    """The mean of each window over $over, the padding counted as zeros.

    Args:
        x: Floating, (n, c, $d).
        ksize: Size of the windows, $each.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, likewise.
        pad_value: 0, or None to leave the padding out of the mean.

    Returns:
        (n, c, $e) with sizes as in `convolution_$rank`, and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows, or another padding is asked for.

    >>> import core.functions as F, numpy as np
    >>> F.average_pooling_$rank(np.ones((1, 1, $4), "f"), 2).shape
    (1, 1, $2)
    """
    if pad_value not in (0, None):
        raise ValueError(f"{rank.name}: expected pad_value 0 or None, got {pad_value!r}")
    image, ksize, ndim = rank.windows(x, ksize)
    over = () if ndim == 2 else (ndim,)
    pooled = (AveragePoolingND if over else AveragePooling2D).call
    y: Variable = pooled(image, *over, ksize, stride, pad, False)
    if pad_value is None:
        ones = image.xp.ones_like(image.array[:1, :1])
        y = y / pooled(ones, *over, ksize, stride, pad, False)
    return y


average_pooling_1d = average_pooling("1d")
average_pooling_2d = average_pooling("2d", pad_value=0)
average_pooling_3d = average_pooling("3d")
average_pooling_nd = average_pooling("nd")
