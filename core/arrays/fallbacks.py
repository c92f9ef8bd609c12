"""What a backend computes beyond its namespace, in the array standard's own words.

A backend overrides what its library does better; an override may be faster, never different.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.arrays import scatter, special
from core.arrays import windows as window_ops
from core.arrays.einsum import einsum
from core.typing import AnyArray, Sizes


class Fallbacks:
    """What the array API standard lacks, computed with the namespace `xp`."""

    xp: Any

    def scatter_add(self, a: AnyArray, index: Any, values: Any) -> None:
        """`a[index] += values` in place; a place that `index` names twice is added to twice."""
        scatter.scatter_add(self.xp, a, index, values)

    def pad(self, x: AnyArray, widths: Sequence[tuple[int, int]], value: float = 0.0) -> AnyArray:
        """`x` with `widths[i] = (before, after)` elements of `value` around axis i."""
        return window_ops.pad(self.xp, x, widths, value)

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

    def einsum(self, subscripts: str, *operands: AnyArray) -> AnyArray:
        """Sum of products over labelled axes, in the notation of `numpy.einsum`."""
        return einsum(self.xp, subscripts, *operands)

    def erf(self, x: AnyArray) -> AnyArray:
        """The error function, elementwise, in the dtype of `x`."""
        return special.erf(self.xp, x)

    def logsumexp(self, x: AnyArray, axis: Any = None, keepdims: bool = False) -> AnyArray:
        """`log(sum(exp(x)))` along `axis` without overflow."""
        return special.logsumexp(self.xp, x, axis, keepdims)

    def outside(self, numbers: AnyArray, size: int) -> bool:
        """Whether one of `numbers`, integers, is not in [0, size).

        A backend whose devices run ahead of the host answers in debug mode alone: to answer is to
        wait.
        """
        return bool(self.xp.any((numbers < 0) | (numbers >= size)))

    def sum_to(self, x: AnyArray, shape: tuple[int, ...]) -> AnyArray:
        """Sum `x` down to a shape that broadcasts to its own: the adjoint of broadcasting."""
        return scatter.sum_to(self.xp, x, shape)
