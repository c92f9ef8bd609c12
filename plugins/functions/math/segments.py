"""Sums and extremes of rows by segments.

Of the messages to each node of a graph, of the points in each cell, of the words of each sentence:
the segment of a row is its number, and rows of one segment need not follow each other.
"""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from core import Domain, FunctionNode, choice, integers, real
from plugins.functions.array.take import Take
from plugins.functions.derived import function_of
from plugins.functions.labels import refuse_outside, widened

NUMBERS = "Each row is of one of the segments; give count as the greatest number plus 1."


class _OfSegments(FunctionNode):
    """A row for each segment, made of those rows of x that have its number."""

    count: int
    domain = Domain(
        "(n,...),(n)->(...b)",
        x=real(-3, 3, distinct=True),
        segments=integers(0, 3),
        settings={"count": choice(3, 4)},
    )

    def rows(self: Any, xp: Any, x: Any, segments: Any) -> tuple[Any, Any]:
        """The rows as those of a matrix, and numbers of segments that are all right."""
        name = type(self).__name__
        if self.count < 0:
            raise ValueError(f"{name}: expected a count of 0 or more, got {self.count}")
        refuse_outside(name, self.backend, "segments", segments, self.count, NUMBERS)
        return xp.reshape(x, (x.shape[0], prod(x.shape[1:]))), widened(xp, segments)

    check_values = rows


class SegmentSum(_OfSegments):
    """Sum the rows of each segment.

    Args:
        x: Floating, (n, ...). Floats of 16 bits are summed in float32.
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are, which may have no rows.

    Returns:
        (count, ...), and the dtype of `x`; 0 for a segment without rows.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    >>> import core.functions as F, numpy as np
    >>> F.segment_sum(np.array([1, 2, 4], "f"), np.array([0, 2, 0]), 3)
    variable([5., 0., 2.], dtype=float32)
    """

    wide = True

    def compute(self, xp, x, segments):
        rows, numbers = self.rows(xp, x, segments)
        sums = xp.zeros((self.count, rows.shape[1]), dtype=x.dtype, device=x.device)
        sums = self.backend.scatter_add(sums, numbers, rows)
        return xp.reshape(sums, (self.count, *x.shape[1:]))

    def gradient_x(self, xp, g, segments):
        return Take(0).evaluate(g, segments)


class SegmentMean(_OfSegments):
    """Average the rows of each segment.

    Args:
        x: Floating, (n, ...). Floats of 16 bits are summed in float32.
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are, which may have no rows.

    Returns:
        (count, ...), and the dtype of `x`; 0 for a segment without rows.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    >>> import core.functions as F, numpy as np
    >>> F.segment_mean(np.array([1, 2, 4], "f"), np.array([0, 2, 0]), 3)
    variable([2.5, 0. , 2. ], dtype=float32)
    """

    wide = True
    saved = ("sizes",)

    def compute(self, xp, x, segments):
        sums = SegmentSum(self.count).evaluate(x, segments)
        ones = xp.ones((x.shape[0],), dtype=x.dtype, device=x.device)
        sizes = SegmentSum(self.count).evaluate(ones, segments)
        sizes = xp.where(sizes == 0, xp.ones_like(sizes), sizes)
        self.sizes = xp.reshape(sizes, (self.count, *(1,) * (x.ndim - 1)))
        return sums / self.sizes

    def gradient_x(self, xp, g, segments, sizes):
        return Take(0).evaluate(g / sizes, segments)


class _Extreme(_OfSegments):
    """The greatest or the least; every row that equals it gets the gradient."""

    empty: float = 0.0
    chosen: ClassVar[str]

    def compute(self, xp, x, segments):
        rows, numbers = self.rows(xp, x, segments)
        if not rows.shape[0]:
            return xp.full((self.count, *x.shape[1:]), self.empty, dtype=x.dtype, device=x.device)
        order = xp.argsort(numbers, stable=True)
        numbers, rows = xp.take(numbers, order, axis=0), xp.take(rows, order, axis=0)
        # After each round, a row stands for twice as many rows of its segment, itself the last.
        reach = 1
        while reach < rows.shape[0]:
            both = getattr(xp, self.chosen)(rows[reach:, :], rows[:-reach, :])
            same = (numbers[reach:] == numbers[:-reach])[:, None]
            rows = xp.concat([rows[:reach, :], xp.where(same, both, rows[reach:, :])], axis=0)
            reach *= 2
        ends = xp.ones((1,), dtype=xp.bool, device=x.device)
        ends = xp.concat([numbers[1:] != numbers[:-1], ends])[:, None]
        last = [xp.astype(ends, x.dtype), xp.where(ends, rows, xp.zeros_like(rows))]
        found = xp.zeros((self.count, rows.shape[1] + 1), dtype=x.dtype, device=x.device)
        found = self.backend.scatter_add(found, numbers, xp.concat(last, axis=1))
        filled, found = found[:, :1] > 0, found[:, 1:]
        found = xp.where(filled, found, xp.full_like(found, self.empty))
        return xp.reshape(found, (self.count, *x.shape[1:]))

    def gradient_x(self, xp, g, x, segments, out):
        chosen = x == Take(0).evaluate(out, segments)
        return xp.where(chosen, Take(0).evaluate(g, segments), 0)


class SegmentMax(_Extreme):
    """Find the greatest element of each segment of rows; NaN if there is one.

    Each of several equal maxima gets the whole gradient.

    Args:
        x: Floating, (n, ...).
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are.
        empty: What a segment without rows gets.

    Returns:
        (count, ...), and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    >>> import core.functions as F, numpy as np
    >>> F.segment_max(np.array([1, 2, 4], "f"), np.array([0, 2, 0]), 3)
    variable([4., 0., 2.], dtype=float32)
    """

    chosen = "maximum"


class SegmentMin(_Extreme):
    """Find the least element of each segment of rows; NaN if there is one.

    Each of several equal minima gets the whole gradient.

    Args:
        x: Floating, (n, ...).
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are.
        empty: What a segment without rows gets.

    Returns:
        (count, ...), and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    >>> import core.functions as F, numpy as np
    >>> F.segment_min(np.array([1, 2, 4], "f"), np.array([0, 2, 0]), 3)
    variable([1., 0., 2.], dtype=float32)
    """

    chosen = "minimum"


class SegmentSoftmax(_OfSegments):
    """Make each column of each segment of rows positive, with sum 1: softmax over the segment.

    Attention over the neighbours of each node of a graph, for example.

    Args:
        x: Floating, (n, ...).
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    Source: Velickovic et al. 2018 (arXiv:1710.10903), equation 2.

    >>> import core.functions as F, numpy as np
    >>> F.segment_softmax(np.array([0, 7, 0], "f"), np.array([0, 2, 0]), 3)
    variable([0.5, 1. , 0.5], dtype=float32)
    """

    wide = True

    def compute(self, xp, x, segments):
        most = SegmentMax(self.count).evaluate(x, segments)
        y = xp.exp(x - Take(0).evaluate(most, segments))
        return y / Take(0).evaluate(SegmentSum(self.count).evaluate(y, segments), segments)

    def gradient_x(self, xp, g, segments, out):
        gy = g * out
        total = SegmentSum(self.count).evaluate(gy, segments)
        return gy - out * Take(0).evaluate(total, segments)


segment_sum = function_of(SegmentSum, "segment_sum")


segment_mean = function_of(SegmentMean, "segment_mean")


segment_max = function_of(SegmentMax, "segment_max")


segment_min = function_of(SegmentMin, "segment_min")


segment_softmax = function_of(SegmentSoftmax, "segment_softmax")
