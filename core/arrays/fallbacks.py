"""What a backend computes beyond its namespace, in the array standard's own words.

A backend overrides what its library does better; an override may be faster, never different.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.arrays import scatter
from core.arrays import windows as window_ops
from core.typing import AnyArray, Sizes


class Fallbacks:
    """What the array API standard lacks, computed with the namespace `xp`."""

    xp: Any

    def scatter_add(self, a: AnyArray, index: Any, values: Any) -> None:
        """`a[index] += values` in place; a place that `index` names twice is added to twice."""
        scatter.scatter_add(self.xp, a, index, values)

    def windows(
        self,
        x: AnyArray,
        ksize: Sizes,
        stride: Sizes = 1,
        pad: Sizes = 0,
        dilate: Sizes = 1,
        cover_all: bool = False,
        pad_value: float = 0.0,
    ) -> AnyArray:
        """All windows of `x` (n, c, *spatial): an array (n, c, *ksize, *out), not to be written to.

        `out` along each axis is `core.arrays.windows.window_count`. With `cover_all` the windows
        reach every element of `x`, the last ones padded further.
        """
        return window_ops.windows(self.xp, x, ksize, stride, pad, dilate, cover_all, pad_value)

    def fold(
        self,
        windows: AnyArray,
        size: Sequence[int],
        stride: Sizes = 1,
        pad: Sizes = 0,
        dilate: Sizes = 1,
    ) -> AnyArray:
        """The adjoint of `windows`: (n, c, *ksize, *out) to (n, c, *size), overlaps summed."""
        return window_ops.fold(self.xp, windows, size, stride, pad, dilate)

    def outside(self, numbers: AnyArray, size: int) -> bool:
        """Whether one of `numbers`, integers, is not in [0, size).

        A backend whose devices run ahead of the host answers in debug mode alone: to answer is to
        wait.
        """
        return bool(self.xp.any((numbers < 0) | (numbers >= size)))
