"""The greatest element of each window."""

from __future__ import annotations

from itertools import product
from typing import Any

from core import Domain, FunctionNode, Variable, choice, real
from core.arrays.array_backend import unwrapped
from core.arrays.windows import Geometry, first_inside, per_axis
from core.errors import InvalidType
from core.typing import AnyArray, Array, BackendArray, Sizes
from plugins.functions.ranks import Family, Rank
from plugins.functions.windows import (
    OVER_AXES,
    ImageWindows,
    _OverAxes,
    ndim_of_x,
    windows_fit,
)


def _inside(f: Any, x: Any) -> None:
    """No window lies in the padding alone, where the maximum is -inf."""
    laid = Geometry(x.shape[2:], f.ksize, f.stride, f.pad, 1, f.cover_all)
    for n, k, stride, pad, out in zip(
        laid.size, laid.ksize, laid.stride, laid.pad, laid.out, strict=True
    ):
        if pad >= k or (out - 1) * stride - pad >= n:
            raise InvalidType("windows that hold elements", f"padding {f.pad}")


class _MaxPooling(FunctionNode):
    """What max pooling and its adjoints know of their windows."""

    ksize: Sizes
    stride: Sizes | None = None
    pad: Sizes = 0
    cover_all: bool = True

    def prepare(self) -> None:
        self.stride = self.ksize if self.stride is None else self.stride

    def windows(self: Any, x: AnyArray, value: float) -> list[tuple[int, AnyArray]]:
        """The elements of the windows by their place: pairs of a number and (n, c, *out)."""
        spatial = x.ndim - 2
        ksize = per_axis(self.ksize, spatial, "ksize")
        seen = self.backend.windows(x, ksize, self.stride, self.pad, 1, self.cover_all, value)
        places = product(*map(range, ksize))
        return [
            (i, seen[(slice(None), slice(None), *place, ...)]) for i, place in enumerate(places)
        ]

    @property
    def settings(self) -> tuple[Any, Any, Any, Any]:
        return self.ksize, self.stride, self.pad, self.cover_all


class _Maximum(_MaxPooling):
    """The maximum over each window; the gradient goes to the first element that attains it."""

    saved = ("indexes",)

    def compute(self, xp, x):
        windows = self.windows(x, float("-inf"))
        y = windows[0][1] + 0
        indexes = xp.zeros(y.shape, dtype=xp.int32, device=x.device)
        if self.pad:  # an element inside is the first of those that are -inf, as padding is
            ksize, stride, pad, cover_all = self.settings
            laid = Geometry(x.shape[2:], ksize, stride, pad, 1, cover_all)
            indexes = indexes + first_inside(xp, laid, x.device)
        for i, element in windows[1:]:
            # The first NaN of a window is its maximum, as it is to argmax.
            wins = (element > y) | ((element != element) & (y == y))
            indexes = xp.where(wins, xp.asarray(i, dtype=xp.int32, device=x.device), indexes)
            y = xp.maximum(y, element)
        self.indexes = indexes
        return y

    def gradient(self, xp, g, indexes):
        size = self.input_shape(0)[2:]
        return MaxPoolingGradient(*self.settings, indexes=indexes, size=size).evaluate(g)


class MaxPooling2D(ImageWindows, _Maximum):
    """The maximum over each window of images."""

    domain = Domain(
        "(n,c,h,w)->(n,c,p,q)",
        x=real(-3, 3, distinct=True),
        settings={
            "ksize": choice(2, 3, (2, 1)),
            "stride": choice(None, 1, 2),
            "pad": choice(0, 1),
            "cover_all": choice(True, False),
        },
        dims={"h": (1, 5), "w": (1, 5)},
        valid=windows_fit,
        drawn=_inside,
    )


class MaxPoolingND(_Maximum, _OverAxes):
    """The maximum over each window, over any number of spatial axes."""

    domain = Domain(
        "(n,c,...s)->(n,c,...p)",
        x=real(-3, 3, distinct=True),
        settings=MaxPooling2D.domain.settings | {"ndim": ndim_of_x(), "ksize": choice(2, 3)},
        dims={"...s": (1, 3)},
        valid=(OVER_AXES, windows_fit),
        drawn=_inside,
    )


class MaxPoolingGradient(_MaxPooling):
    """Each value goes where its window's maximum was, the values that meet there summed."""

    indexes: Any = None
    size: tuple[int, ...] = ()

    def compute(self: Any, xp, g):
        ksize = per_axis(self.ksize, g.ndim - 2, "ksize")
        nothing = xp.zeros_like(g)
        spread = [
            xp.where(self.indexes == i, g, nothing)
            for i, _ in enumerate(product(*map(range, ksize)))
        ]
        cols = xp.reshape(xp.stack(spread, axis=2), (*g.shape[:2], *ksize, *g.shape[2:]))
        return self.backend.fold(cols, self.size, self.stride, self.pad)

    def gradient(self, xp, g):
        return MaxPoolingPick(*self.settings, indexes=self.indexes).evaluate(g)


class MaxPoolingPick(_MaxPooling):
    """The element of each window at a given place: the adjoint of `MaxPoolingGradient`."""

    indexes: Any = None

    def compute(self, xp, x):
        windows = self.windows(x, 0.0)
        picked = windows[0][1] + 0
        for i, element in windows[1:]:
            picked = xp.where(self.indexes == i, element, picked)
        return picked

    def gradient(self, xp, g):
        size = self.input_shape(0)[2:]
        return MaxPoolingGradient(*self.settings, indexes=self.indexes, size=size).evaluate(g)


@Family
def max_pooling(  # noqa: D417
    rank: Rank,
    /,
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> Variable | tuple[Variable, BackendArray]:
    """The greatest element of each window over $over.

    Args:
        x: Floating, (n, c, $d).
        ksize: Size of the windows, $each.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, where they see minus infinity, likewise.
        cover_all: Let the windows reach every element.
        return_indices: Also give, as an array of int32, the place of each maximum in its window.

    Returns:
        (n, c, $e) with sizes as in `convolution_$rank`, and the dtype of `x`.
        NaN in a window is its maximum. Of equal elements the first one gets the gradient,
        and padding never does.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows.

    >>> import core.functions as F, numpy as np
    >>> F.max_pooling_$rank(np.ones((1, 1, $5), "f"), 2).shape
    (1, 1, $3)
    """
    x, ksize, ndim = rank.windows(x, ksize)
    settings = (ksize, stride, pad, cover_all)
    if not return_indices:
        if ndim == 2:
            return MaxPooling2D.call(x, *settings)
        return MaxPoolingND.call(x, ndim, *settings)
    node = MaxPooling2D(*settings) if ndim == 2 else MaxPoolingND(ndim, *settings)
    (y,) = node.apply((x,))
    return y, unwrapped(node.indexes)


max_pooling_1d = max_pooling("1d")
max_pooling_2d = max_pooling("2d")
max_pooling_3d = max_pooling("3d")
max_pooling_nd = max_pooling("nd")
