"""The mean of each window, padding counted as zeros."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, choice, real
from core.arrays.windows import per_axis
from core.errors.kinds import checked
from core.typing import Array, Sizes
from plugins.functions.pooling.max_pooling import fits
from plugins.functions.removed import removed
from plugins.functions.windows import (
    ImageWindows,
    _OverAxes,
    expect_windows,
    ndim_of_x,
    of_rank,
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

    def check_type_forward(self, in_types):
        super().check_type_forward(in_types)
        expect_windows(self, in_types[0], self.ksize)

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
        valid=fits,
    )


class AveragePoolingND(_Average, _OverAxes):
    """The mean over each window, over any number of spatial axes."""

    domain = Domain(
        "(n,c,...s)->(n,c,...p)",
        x=real(-3, 3),
        settings=AveragePooling2D.domain.settings | {"ndim": ndim_of_x(), "ksize": choice(2, 3)},
        dims={"...s": (1, 3)},
        valid=fits,
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


@checked
@removed()
def average_pooling_nd(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    pad_value: float | None = 0,
) -> Variable:
    """The mean of each window, over any number of spatial axes.

    Args:
        x: Floating, (n, c, d_1, ..., d_N).
        ksize: Size of the windows, for each axis or for all.
        stride: Distance of neighbouring windows; None takes `ksize`.
        pad: How far the windows reach over the edges.
        pad_value: 0 counts the padding as zeros, None leaves it out of the mean.

    Returns:
        (n, c, e_1, ..., e_N), with e as in `convolution_nd`, and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or no window fits into it.
        ValueError: Sizes make no windows, or `pad_value` is another.

    >>> import core.functions as F, numpy as np
    >>> F.average_pooling_nd(np.array([[[1, 3, 2, 0]]], "f"), 2)
    variable([[[2., 1.]]], dtype=float32)
    """
    if pad_value not in (0, None):
        raise ValueError(f"average_pooling: expected pad_value 0 or None, got {pad_value!r}")
    x = as_variable(x)
    pooling = average_over(x.ndim - 2, ksize, stride, pad, False)
    (y,) = pooling.apply((x,))
    if pad_value is None:
        ones = x.xp.ones_like(x.array[:1, :1])
        y = y / pooling.again()(ones)
    return y


@checked
@removed()
def average_pooling_1d(
    x: Array, ksize: Sizes, stride: Sizes | None = None, pad: Sizes = 0, pad_value: float | None = 0
) -> Variable:
    """The mean of each window over one spatial axis.

    Args:
        x: Floating, (n, c, l).
        ksize: Size of the windows, in a tuple or alone.
        stride: Distance of neighbouring windows; None takes `ksize`.
        pad: How far the windows reach over the edges.
        pad_value: 0 counts the padding as zeros, None leaves it out of the mean.

    Returns:
        (n, c, l') with sizes as in `convolution_1d`, and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows.

    >>> import core.functions as F, numpy as np
    >>> F.average_pooling_1d(np.ones((1, 1, 4), "f"), 2)
    variable([[[1., 1.]]], dtype=float32)
    """
    x, ksize = of_rank("average_pooling_1d", 1, x), per_axis(ksize, 1, "average_pooling_1d: ksize")
    return average_pooling_nd(x, ksize, stride, pad, pad_value)


@checked
@removed()
def average_pooling_2d(
    x: Array, ksize: Sizes, stride: Sizes | None = None, pad: Sizes = 0
) -> Variable:
    """The mean of each window over images.

    Args:
        x: Floating, (n, c, h, w).
        ksize: Size of the windows, for each axis or for both.
        stride: Distance of neighbouring windows; None takes `ksize`.
        pad: How far the windows reach over the edges, where they see zeros.

    Returns:
        (n, c, h', w') with sizes as in `convolution_2d`, and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows.

    >>> import core.functions as F, numpy as np
    >>> F.average_pooling_2d(np.ones((1, 1, 2, 2), "f"), 2)
    variable([[[[1.]]]], dtype=float32)
    """
    x, ksize = of_rank("average_pooling_2d", 2, x), per_axis(ksize, 2, "average_pooling_2d: ksize")
    return average_pooling_nd(x, ksize, stride, pad)


@checked
@removed()
def average_pooling_3d(
    x: Array, ksize: Sizes, stride: Sizes | None = None, pad: Sizes = 0, pad_value: float | None = 0
) -> Variable:
    """The mean of each window over volumes.

    Args:
        x: Floating, (n, c, d, h, w).
        ksize: Size of the windows, for each axis or for all.
        stride: Distance of neighbouring windows; None takes `ksize`.
        pad: How far the windows reach over the edges.
        pad_value: 0 counts the padding as zeros, None leaves it out of the mean.

    Returns:
        (n, c, d', h', w') with sizes as in `convolution_3d`, and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows.

    >>> import core.functions as F, numpy as np
    >>> F.average_pooling_3d(np.ones((1, 1, 2, 2, 2), "f"), 2).shape
    (1, 1, 1, 1, 1)
    """
    x, ksize = of_rank("average_pooling_3d", 3, x), per_axis(ksize, 3, "average_pooling_3d: ksize")
    return average_pooling_nd(x, ksize, stride, pad, pad_value)
