"""Draws from gamma distributions, differentiable in the shape parameter."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real
from core.errors import NotDifferentiable
from core.functions import digamma
from plugins.distributions.limits import limits
from plugins.distributions.rejection import by_rejection

TERMS = 20  # of the series, between looks at how much is left
GREAT = 1e6  # shapes from which on the series has too many terms, whose errors add up


def standard_gamma(random: Any, xp: Any, k: Any, device: Any) -> Any:
    """Draws from gamma distributions of scale 1, at least the smallest normal number."""
    found, log_lift = _drawn(random, xp, k, device)
    return rounded(xp, found * xp.exp(log_lift), k.dtype)


def log_standard_gamma(random: Any, xp: Any, k: Any, device: Any) -> Any:
    """The logarithms of such draws, however small these are; of 16-bit shapes in float32."""
    found, log_lift = _drawn(random, xp, k, device)
    return xp.log(found) + log_lift


def rounded(xp: Any, drawn: Any, dtype: Any) -> Any:
    """The draws in a dtype, at least its smallest normal number."""
    least = xp.full_like(drawn, float(limits(xp, dtype).smallest_normal))
    return xp.astype(xp.maximum(drawn, least), dtype)


def _drawn(random: Any, xp: Any, k: Any, device: Any) -> tuple[Any, Any]:
    """Draws, by rejection, and the logarithms of what they are to be multiplied by.

    Shapes below 1 are drawn at k + 1 and multiplied by u^(1/k). What is no shape gives NaN:
    it would be rejected for ever. 16-bit shapes are drawn in float32, in whose bits what is
    compared differs, and 9 d is a number.

    Source: Marsaglia and Tsang 2000, "A simple method for generating gamma variables".
    """
    k = xp.astype(k, xp.float32) if limits(xp, k.dtype).bits < 32 else k

    def uniform(shape: Any) -> Any:
        return random.uniform(shape, k.dtype, float(xp.finfo(k.dtype).eps) / 4, 1, device=device)

    def trial(d: Any, c: Any) -> tuple[Any, Any]:
        z = random.normal(d.shape, d.dtype, device=device)
        cubic = 1 + c * z
        v = xp.where(cubic > 0, cubic * cubic * cubic, 1.0)
        fits = xp.log(uniform(d.shape)) < 0.5 * z * z + d * (1 - v + xp.log(v))
        return d * v, (cubic > 0) & fits

    shape = (k >= 0) & (k < float("inf"))
    k = xp.where(shape, k, 1.0)
    small = k < 1
    d = xp.where(small, k + 1, k) - 1 / 3
    c = 1 / xp.sqrt(9 * d)
    found = by_rejection(xp, trial, shape, xp.full_like(k, float("nan")), d, c)
    if not bool(xp.any(small)):
        return found, xp.zeros_like(k)
    return found, xp.where(small, xp.log(uniform(k.shape)) / xp.where(small, k, 1.0), 0.0)


class GammaSlope(FunctionNode):
    """dx/dk of draws x at a fixed probability: -∂P(k, x)/∂k over the density.

    With `of_logs`, x is the logarithm of the draws, and the result its own derivative.

    P(k, x) = Σ x^(k+n) exp(-x) / Γ(k+n+1), whose terms are differentiated one by one.

    Source: Figurnov, Mohamed and Mnih 2018 (arXiv:1805.08498), equation 6.
    """

    of_logs: bool = False

    domain = Domain(
        "(...),(...)->(...)",
        k=real(0.3, 5),
        x=real(0.1, 8),
        leave_out={"gradient": "not differentiable", "traced": "depends on values"},
    )

    def compute(self, xp: Any, k: Any, x: Any) -> Any:
        dtype = x.dtype
        k, x = xp.astype(k, xp.float64), xp.astype(x, xp.float64)
        log_x, x = (x, xp.exp(x)) if self.of_logs else (xp.log(x), x)
        great = k > GREAT
        # There a draw is k + z √k + (z² - 1) / 3, of a z that is nearly normal, and stays.
        most, drawn = xp.where(great, k, 1.0), xp.where(great, x, 1.0)
        apart = (drawn - most) / most
        limit = 1 + 0.5 * apart - (apart * apart - 1 / most) / 6
        limit = limit / drawn if self.of_logs else limit
        k, x, log_x = (xp.where(great, 1.0, a) for a in (k, x, log_x))
        # The term of n over the density: x^(n+1) Γ(k) / Γ(k+n+1); for logarithms, x times less.
        term = 1 / k if self.of_logs else x / k
        psi = digamma(k + 1).array
        total, n = xp.zeros_like(x), 0
        while n == 0 or bool(xp.any((term > 1e-17 * (1 + xp.abs(total))) | (x > k + n))):
            for _ in range(TERMS):
                total = total + term * (psi - log_x)
                n += 1
                term = term * (x / (k + n))
                psi = psi + 1 / (k + n)
        return xp.astype(xp.where(great, limit, total), dtype)

    def gradient(self, xp: Any, g: Any) -> Any:
        raise NotDifferentiable("draws from gamma distributions have first derivatives only.")


class StandardGamma(FunctionNode):
    """A draw from the gamma distribution of shape k and scale 1, for each element."""

    domain = Domain(
        "(...)->(...)",
        k=real(0.3, 5),
        leave_out={
            "forward": "random",
            "double_gradient": "not differentiable",
            "traced": "depends on values",
        },
    )

    def compute(self, xp: Any, k: Any) -> Any:
        return standard_gamma(self.backend.random, xp, k, self.backend.device_of(k))

    def gradient_k(self, xp: Any, g: Any, k: Any, out: Any) -> Any:
        return g * GammaSlope().evaluate(k, out)


class LogStandardGamma(FunctionNode):
    """The logarithm of such a draw, however small that is."""

    domain = StandardGamma.domain

    def compute(self, xp: Any, k: Any) -> Any:
        drawn = log_standard_gamma(self.backend.random, xp, k, self.backend.device_of(k))
        return xp.astype(drawn, k.dtype)

    def gradient_k(self, xp: Any, g: Any, k: Any, out: Any) -> Any:
        return g * GammaSlope(of_logs=True).evaluate(k, out)
