"""Student's t-distribution."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import (
    Distribution,
    finite,
    in_double,
    log1p_square,
    where,
    within,
)
from plugins.distributions.student_tails import (
    StandardStudent,
    StudentPoint,
    StudentTail,
    log_norm,
)


class StudentT(Distribution):
    """Student's distributions, of density ∝ (1 + (x - loc)² / (scale² df))^(-(df + 1) / 2).

    Args:
        df: Degrees of freedom, above 0.
        loc: Medians.
        scale: Above 0.

    The mean is NaN for df <= 1, and so is the variance, which is infinite for df <= 2. Gradients
    of draws reach all parameters, df by implicit differentiation, once.

    >>> import core.distributions as D, numpy as np
    >>> D.StudentT(np.array([1, 5], "f")).cdf(np.array([1, 0], "f"))
    variable([0.75, 0.5 ], dtype=float32)
    """

    def __init__(self, df: Operand, loc: Operand = 0.0, scale: Operand = 1.0) -> None:
        self.df, self.loc, self.scale = self._parameters(df=df, loc=loc, scale=scale)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        return within(finite(x), x, self.loc.array, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        z = self._standard(x) / F.sqrt(self.df)
        known = in_double(_log_norm, self.df) + F.log(self.scale)
        return -0.5 * (self.df + 1) * log1p_square(z) - known

    def cdf(self, x: Array) -> Variable:
        return self._tail(-self._standard(x))

    def survival_function(self, x: Array) -> Variable:
        return self._tail(self._standard(x))

    def _standard(self, x: Array) -> Variable:
        return (self._point(x) - self.loc) / self.scale

    def _tail(self, z: Variable) -> Variable:
        found: Variable = StudentTail.call(self.df, z)
        return found

    def icdf(self, p: Array) -> Variable:
        found: Variable = StudentPoint.call(self.df, self._point(p))
        return self.loc + self.scale * found

    def sample_n(self, n: int) -> Variable:
        drawn: Variable = StandardStudent.call(F.broadcast_to(self.df, (n, *self.batch_shape)))
        return self.loc + self.scale * drawn

    @property
    def mean(self) -> Variable:
        return where(self.df.array > 1, self.loc, float("nan"))

    @property
    def mode(self) -> Variable:
        return self.loc

    @property
    def variance(self) -> Variable:
        finite = self.df.array > 2
        df = where(finite, self.df, 3.0)
        square = self.scale * self.scale * (df / (df - 2))
        return where(
            finite, square, where(self.df.array > 1, 0 * square + float("inf"), float("nan"))
        )

    @property
    def entropy(self) -> Variable:
        return in_double(_entropy, self.df) + F.log(self.scale)


def _log_norm(df: Variable) -> Variable:
    found: Variable = log_norm(df.__array_namespace__(), df)
    return found


def _entropy(df: Variable) -> Variable:
    great = df.array > 2e4  # where digamma functions cancel
    few, inverse = where(great, 1.0, 0.5 * df), 2 / where(great, df, 1.0)
    direct = (few + 0.5) * (F.digamma(few + 0.5) - F.digamma(few))
    series = 0.5 + inverse * (0.375 + inverse * (0.0625 - inverse / 64))
    return where(great, series, direct) + _log_norm(df)
