"""What is known of every distribution at infinite points, where no parameter has a say."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import inf
from typing import Any

from core import Variable
from core import functions as F
from core.typing import Array

ENDS = {
    "cdf": (0.0, 1.0),
    "survival_function": (1.0, 0.0),
    "log_cdf": (-inf, 0.0),
    "log_survival_function": (0.0, -inf),
}
"""What these methods give at -inf and at inf."""

_INSIDE = 0.5  # a point that formulas take without products of 0 and infinity


def with_ends(name: str, method: Callable[[Any, Array], Variable]) -> Callable[..., Variable]:
    """The method, with the gradient 0 at infinite points, of which the formula makes NaN."""
    low, high = ENDS[name]

    @wraps(method)
    def known(self: Any, x: Array) -> Variable:
        if self.event_shape:
            return method(self, x)
        point: Variable = self._point(x)
        above, below = (point.backend.asarray(point.array == end) for end in (inf, -inf))
        found = method(self, F.where(above | below, _INSIDE, point))
        is_known = found.array == found.array  # NaN among the parameters stays NaN
        return F.where(above & is_known, high, F.where(below & is_known, low, found))

    return known
