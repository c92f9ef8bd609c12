"""The chi-square distribution."""

from __future__ import annotations

from core.typing import Operand
from plugins.distributions.gamma import Gamma


class Chisquare(Gamma):
    """Distributions of the sum of squares of k standard normal numbers: Gamma(k / 2, 2).

    Args:
        k: Degrees of freedom, above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.Chisquare(np.array([2, 5], "f")).variance
    variable([ 4., 10.], dtype=float32)
    """

    def __init__(self, k: Operand) -> None:
        (degrees,) = self._parameters(k=k)
        known = self._params
        super().__init__(0.5 * degrees, 2.0)
        self._params = known
