"""The incomplete gamma and beta functions, regularized, and their inverses: what `cdf` is made of.

Derivatives in `x` are densities; those in parameters are summed along, and have none of their own.
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any, ClassVar

from core import Domain, Elementwise, real
from core.errors import NotDifferentiable
from plugins.distributions import incomplete_formulas as formulas

_PARAMETER = real(0.5, 5)
SUMMED = {"double_gradient": "not differentiable", "traced": "depends on values"}


def computed_in_double(formula: Any, xp: Any, *inputs: Any) -> Any:
    """The formula computed in float64, in the dtype of the inputs."""
    found = formula(xp, *[xp.astype(x, xp.float64) for x in inputs])
    return xp.astype(found, inputs[0].dtype)


class Slope(Elementwise):
    """A derivative in a parameter, which has none of its own."""

    wide = True

    def gradient(self, xp: Any, g: Any) -> Any:
        raise NotDifferentiable(
            "the derivatives of cumulative functions of gamma, beta and Student's distributions in "
            "their parameters have none of their own."
        )


class GammaincSlope(Slope):
    """The derivative of Gammainc in `a`."""

    def compute(self, xp: Any, a: Any, x: Any) -> Any:
        return computed_in_double(formulas.gammainc_slope, xp, a, x)


class BetaincSlope(Slope):
    """The derivative of Betainc in `a`, or in `b`."""

    in_b: bool = False

    def compute(self, xp: Any, a: Any, b: Any, x: Any) -> Any:
        return computed_in_double(partial(formulas.betainc_slope, in_b=self.in_b), xp, a, b, x)


def _gamma_density(xp: Any, a: Any, x: Any) -> Any:
    """x^(a-1) exp(-x) / Γ(a), and 0 where x is not positive; computed in float64."""
    dtype = x.dtype
    a, x = xp.astype(a, xp.float64), xp.astype(x, xp.float64)
    inside = (x > 0) & (x < inf)
    point = xp.where(inside, x, 1.0)
    log = formulas.log_gamma_density(xp, a, point) + xp.log(a) - xp.log(point)
    return xp.astype(xp.where(inside, xp.exp(log), 0.0), dtype)


def _beta_density(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """x^(a-1) (1-x)^(b-1) / B(a, b), and 0 outside of (0, 1); computed in float64."""
    dtype = x.dtype
    a, b, x = [xp.astype(each, xp.float64) for each in (a, b, x)]
    inside = (x > 0) & (x < 1)
    point = xp.where(inside, x, 0.5)
    log = formulas.log_beta_density(xp, a, b, point, 1.0 - point)
    log = log - xp.log(point) - xp.log1p(-point)
    return xp.astype(xp.where(inside, xp.exp(log), 0.0), dtype)


def over(xp: Any, y: Any, density: Any) -> Any:
    """The quotient; 0 where the density is 0, as of a point that was rounded to an edge."""
    return xp.where(density > 0, y / xp.where(density > 0, density, 1.0), 0.0)


def beta_rate(xp: Any, a: Any, b: Any, x: Any, in_b: bool = False) -> Any:
    """dx/da, or dx/db, at a fixed I(x; a, b); 0 where x has been rounded to 0 or 1."""
    return over(xp, -BetaincSlope(in_b).evaluate(a, b, x), _beta_density(xp, a, b, x))


class _Incomplete(Elementwise):
    """An integral from the lower end, or, in a class that is `upper`, to the upper one."""

    upper: ClassVar[bool] = False
    wide = True

    def _of_the_lower(self, g: Any) -> Any:
        """The gradient of the integral from the lower end, which 1 less the upper one is."""
        return -g if self.upper else g


class Gammainc(_Incomplete):
    """P(a, x), the integral of t^(a-1) exp(-t) / Γ(a) from 0 to x; 0 for negative x."""

    domain = Domain(a=_PARAMETER, x=real(0.1, 6), leave_out=SUMMED)

    def compute(self, xp: Any, a: Any, x: Any) -> Any:
        formula = formulas.gammaincc if self.upper else formulas.gammainc
        return computed_in_double(formula, xp, a, x)

    def gradient_a(self, xp: Any, g: Any, a: Any, x: Any) -> Any:
        return self._of_the_lower(g) * GammaincSlope().evaluate(a, x)

    def gradient_x(self, xp: Any, g: Any, a: Any, x: Any) -> Any:
        return self._of_the_lower(g) * _gamma_density(xp, a, x)


class Gammaincc(Gammainc):
    """1 - P(a, x), precise also where it is small; 1 for negative x."""

    upper = True


class Gammaincinv(Elementwise):
    """The x with P(a, x) = p; NaN unless 0 <= p <= 1."""

    wide = True
    domain = Domain(a=_PARAMETER, p=real(0.1, 0.9), leave_out=SUMMED)

    def compute(self, xp: Any, a: Any, p: Any) -> Any:
        return computed_in_double(formulas.gammaincinv, xp, a, p)

    def gradient_a(self, xp: Any, g: Any, a: Any, out: Any) -> Any:
        return -over(xp, g * GammaincSlope().evaluate(a, out), _gamma_density(xp, a, out))

    def gradient_p(self, xp: Any, g: Any, a: Any, out: Any) -> Any:
        return over(xp, g, _gamma_density(xp, a, out))


class Betainc(_Incomplete):
    """I(x; a, b): the integral of t^(a-1) (1-t)^(b-1) / B(a, b) from 0 to x, within (0, 1)."""

    domain = Domain(a=_PARAMETER, b=_PARAMETER, x=real(0.1, 0.9), leave_out=SUMMED)

    def compute(self, xp: Any, a: Any, b: Any, x: Any) -> Any:
        formula = formulas.betaincc if self.upper else formulas.betainc
        return computed_in_double(formula, xp, a, b, x)

    def gradient_a(self, xp: Any, g: Any, a: Any, b: Any, x: Any) -> Any:
        return self._of_the_lower(g) * BetaincSlope().evaluate(a, b, x)

    def gradient_b(self, xp: Any, g: Any, a: Any, b: Any, x: Any) -> Any:
        return self._of_the_lower(g) * BetaincSlope(in_b=True).evaluate(a, b, x)

    def gradient_x(self, xp: Any, g: Any, a: Any, b: Any, x: Any) -> Any:
        return self._of_the_lower(g) * _beta_density(xp, a, b, x)


class Betaincc(Betainc):
    """1 - I(x; a, b), precise also where it is small."""

    upper = True


class Betaincinv(Elementwise):
    """The x with I(x; a, b) = p; NaN unless 0 <= p <= 1."""

    wide = True
    domain = Domain(a=_PARAMETER, b=_PARAMETER, p=real(0.1, 0.9), leave_out=SUMMED)

    def compute(self, xp: Any, a: Any, b: Any, p: Any) -> Any:
        return computed_in_double(formulas.betaincinv, xp, a, b, p)

    def gradient_a(self, xp: Any, g: Any, a: Any, b: Any, out: Any) -> Any:
        return g * beta_rate(xp, a, b, out)

    def gradient_b(self, xp: Any, g: Any, a: Any, b: Any, out: Any) -> Any:
        return g * beta_rate(xp, a, b, out, in_b=True)

    def gradient_p(self, xp: Any, g: Any, a: Any, b: Any, out: Any) -> Any:
        return over(xp, g, _beta_density(xp, a, b, out))
