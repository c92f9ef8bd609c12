"""Distributions of functions of points of others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf
from typing import Any, NamedTuple

from core import Variable, as_variable
from core import functions as F
from core.errors import InvalidType
from core.typing import Array
from plugins.distributions.distribution import (
    Distribution,
    demand_distribution,
    summed,
    together,
    where,
)
from plugins.distributions.limits import limits
from plugins.distributions.transforms import Transform


class TransformedDistribution(Distribution):
    """Distributions of y = f(x), where x is of another one, with a density.

    The density is that of x, less the logarithm of the slope of f.

    Args:
        distribution: That of x.
        transforms: f, a `Transform` of each element, or several, of which the first is applied
            first. Their parameters broadcast to the shape of a point.

    >>> import core.distributions as D, numpy as np
    >>> normal = D.Normal(np.zeros(2), 1.0)
    >>> d = D.TransformedDistribution(normal, [D.AffineTransform(1.0, 0.5), D.ExpTransform()])
    >>> same = D.LogNormal(np.ones(2), 0.5)
    >>> print(d.log_prob(np.array([1.0, 3.0])).array, same.log_prob(np.array([1.0, 3.0])).array)
    [-2.22579135 -1.34385241] [-2.22579135 -1.34385241]
    """

    def __init__(
        self, distribution: Distribution, transforms: Transform | Sequence[Transform]
    ) -> None:
        demand_distribution("TransformedDistribution", "distribution", distribution)
        several = [transforms] if isinstance(transforms, Transform) else list(transforms)
        for each in several:
            if not isinstance(each, Transform):
                raise TypeError(
                    "TransformedDistribution: expected transforms to be a Transform or several, "
                    f"got {each!r:.60}. Derive a class from core.distributions.Transform."
                )
        shape = (*distribution.batch_shape, *distribution.event_shape)
        for each in several:
            for name, x in each.params.items():
                of = f"{name} of {type(each).__name__}"
                both = {of: x.shape, "the shape of a point": shape}
                if together("TransformedDistribution", **both) != shape:
                    raise InvalidType(
                        f"{of} broadcasts to the shape of a point, {shape}",
                        f"{x.shape}; give the distribution a batch that has it",
                        operation="TransformedDistribution",
                    )
        self.distribution = distribution
        self.transforms = several
        self.batch_shape, self.event_shape = distribution.batch_shape, distribution.event_shape
        named = [each.support for each in several if each.support]
        self.support = named[-1] if named else distribution.support
        self._params = distribution.params

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.distribution!r}, {self.transforms!r})"

    @property
    def _like(self) -> Variable:
        return self.distribution._like

    @property
    def _is_ours(self) -> bool:
        return False  # what one's own transforms compute with, nobody knows

    def log_prob(self, x: Array) -> Variable:
        point, inside, slope = self._back(self._complete(x))
        axes = len(self.event_shape)
        if axes:
            inside = self.xp.all(inside, axis=tuple(range(-axes, 0)))
        found = self.distribution.log_prob(point) - summed(slope, axes)
        return where(inside, found, -float("inf"))

    def _back(self, y: Array) -> tuple[Variable, Any, Variable]:
        """The point of the other distribution, where there is one, and the logarithm of the slope.

        Elsewhere it is a point that has one.
        """
        point = self._point(y)
        of_one = (*self.batch_shape, *self.event_shape)
        both = {"x.shape": point.shape, "the shape of a point": of_one}
        shape = together("TransformedDistribution", **both)
        slope = as_variable(self.xp.zeros(shape, dtype=point.dtype, device=point.array.device))
        inside: Any = slope.array == 0
        for f in reversed(self.transforms):
            there = (point.array > f.low) & (point.array < f.high)
            there = there | (point.array != point.array)
            inside = inside & there
            point = f.inverse(where(there, point, f.inner))
            slope = slope + f.log_slope(point)
        return point, inside, slope

    def _tail(self, y: Array, name: str, other: str) -> Variable:
        """A tail of the other distribution: the other one where f decreases."""
        if self.event_shape:
            raise self._unknown(name)
        point = self._point(y)
        turned: Any = False
        lowest: Any = point.array < -float("inf")  # nowhere as yet
        highest: Any = lowest
        for f in reversed(self.transforms):
            under, over = point.array <= f.low, point.array >= f.high
            straight = _either(turned, True)
            lower, upper = under & straight | over & turned, over & straight | under & turned
            known = lowest | highest
            lowest, highest = lowest | (lower & ~known), highest | (upper & ~known)
            point = f.inverse(where(under | over, f.inner, point))
            turned = _either(turned, f.decreases())
        found: Variable = getattr(self.distribution, name)(point)
        if turned is not False:
            found = where(turned, getattr(self.distribution, other)(point), found)
        first, last = _ENDS[name]
        return where(lowest, first, where(highest, last, found))

    def _decreases(self) -> Any:
        return reduce(_either, [f.decreases() for f in self.transforms], False)

    def cdf(self, x: Array) -> Variable:
        return self._tail(x, "cdf", "survival_function")

    def survival_function(self, x: Array) -> Variable:
        return self._tail(x, "survival_function", "cdf")

    def log_cdf(self, x: Array) -> Variable:
        return self._tail(x, "log_cdf", "log_survival_function")

    def log_survival_function(self, x: Array) -> Variable:
        return self._tail(x, "log_survival_function", "log_cdf")

    def icdf(self, p: Array) -> Variable:
        if self.event_shape:
            raise self._unknown("icdf")
        p, decreases = self._point(p), self._decreases()
        if decreases is not False:
            p = where(decreases, 1 - p, p)
        return self._forward(self.distribution.icdf(p))

    def sample_n(self, n: int) -> Variable:
        x, ends = self.distribution.sample_n(n), list[_End]()
        for f in self.transforms:
            x = f.forward(as_variable(x))
            for end in (ends := _ends(f, ends, x)):
                x = end.within(x)
        return x

    def _forward(self, x: Variable) -> Variable:
        for f in self.transforms:
            x = f.forward(as_variable(x))
        return x


class _End(NamedTuple):
    """The value next to an end of an open interval, and whether that is the lower end.

    The density is 0 at the end itself, to which draws may be rounded.
    """

    value: Any
    is_low: Any

    def within(self, y: Variable) -> Variable:
        """Values on this side of the end."""
        if isinstance(self.is_low, bool):
            return F.maximum(y, self.value) if self.is_low else F.minimum(y, self.value)
        return where(self.is_low, F.maximum(y, self.value), F.minimum(y, self.value))


def _ends(f: Transform, before: list[_End], y: Variable) -> list[_End]:
    """The ends of the values of a function at numbers that have some before."""
    xp, about = y.xp, limits(y.xp, y.dtype)
    found = [
        _End(f.forward(as_variable(end.value)).array, _either(end.is_low, f.decreases()))
        for end in before
    ]
    for value, is_low in ((f.low, True), (f.high, False)):
        if abs(value) < inf:
            array = xp.full(1, value, dtype=y.dtype, device=y.array.device)
            found.append(_End(array, is_low))
    stepped = []
    for value, is_low in found:
        wide = xp.astype(value, xp.float64)  # which 16 bits of some libraries become beside numbers
        size = xp.where(abs(wide) < inf, abs(wide), 0.0)
        step = xp.clip(float(about.eps) * size, float(about.smallest_normal), inf)
        if isinstance(is_low, bool):
            step = step if is_low else -step
        else:
            step = xp.where(is_low, step, -step)
        stepped.append(_End(xp.astype(wide + step, y.dtype), is_low))
    return stepped


_ENDS = {
    "cdf": (0.0, 1.0),
    "survival_function": (1.0, 0.0),
    "log_cdf": (-float("inf"), 0.0),
    "log_survival_function": (0.0, -float("inf")),
}
"""What tails are below all points and above."""


def _either(one: Any, other: Any) -> Any:
    """Where one of two functions decreases, and not both."""
    if one is False or other is False:
        return one if other is False else other
    return one != other
