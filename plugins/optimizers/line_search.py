"""The line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Point(NamedTuple):
    """A place on the line, with the function's value and slope there."""

    t: float
    value: float
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, float]],
    value: float,
    slope: float,
    t: float = 1.0,
    c1: float = 1e-4,
    c2: float = 0.9,
    max_eval: int = 25,
) -> float:
    r"""A step along a line that lowers the function enough, and its slope as well.

    .. math::
        \phi(t) \le \phi(0) + c_1 t \phi'(0), \qquad |\phi'(t)| \le c_2 |\phi'(0)|

    Args:
        evaluate: Value and slope at a t > 0. A value that is not finite counts as too large.
        value: The value at 0.
        slope: The slope at 0, negative.
        t: The first step to try.
        c1: The share of the slope that the value has to fall by.
        c2: The share of the slope that may be left; above `c1`.
        max_eval: How often the function may be evaluated.

    Where no step with both is found in time, that of the least value with the first is returned;
    0 where there is none.

    Source: Nocedal and Wright, "Numerical Optimization" (2nd ed. 2006), algorithms 3.5 and 3.6.

    >>> round(strong_wolfe(lambda t: ((t - 3) ** 2, 2 * (t - 3)), 9.0, -6.0, c2=0.1), 6)
    3.0
    """
    start = low = Point(0.0, value, slope)
    high: Point | None = None  # as soon as a good step is known to be between low and high
    for _ in range(max_eval):
        if high is not None and value + abs(high.t - low.t) * abs(low.slope) == value:
            break  # what is left to gain is lost in rounding
        t = t if high is None else _between(low, high)
        here = Point(t, *evaluate(t))
        limit = start.value + c1 * t * start.slope
        if low.t > 0:
            limit = min(limit, low.value)
        if not (math.isfinite(here.slope) and here.value <= limit):
            high = here
        elif abs(here.slope) <= -c2 * start.slope:
            return t
        elif high is None and here.slope < 0:
            low, t = here, _beyond(low, here)
        else:
            toward = here.slope * ((t if high is None else high.t) - low.t)
            high, low = (low if toward >= 0 or high is None else high), here
    return low.t


def _between(low: Point, high: Point) -> float:
    """Where a cubic through both has its minimum, but not near the ends."""
    width = high.t - low.t
    for t in _minimum(low, high):
        share = (t - low.t) / width
        return low.t + width * min(max(share, 0.1), 0.9)
    return low.t + width / 2


def _beyond(last: Point, here: Point) -> float:
    """Where a cubic through both has its minimum, twice to ten times as far."""
    for t in _minimum(last, here):
        return min(max(t, 2 * here.t), 10 * here.t)
    return 10 * here.t


def _minimum(a: Point, b: Point) -> Iterator[float]:
    """The minimum of the cubic with these values and slopes; nothing where it has none."""
    if not (math.isfinite(b.value) and math.isfinite(b.slope)):
        return
    d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t)
    inside = d1 * d1 - a.slope * b.slope
    if inside < 0:
        return
    d2 = math.copysign(math.sqrt(inside), b.t - a.t)
    divisor = b.slope - a.slope + 2 * d2
    if divisor:
        yield b.t - (b.t - a.t) * (b.slope + d2 - d1) / divisor
