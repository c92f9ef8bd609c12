"""Draws from binomial distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.functions import LGamma
from core.typing import AnyArray
from plugins.distributions.rejection import by_rejection

LARGE = 10  # means from which on draws are made by rejection, below by counting

GREATEST = 2.0**62  # of the numbers of trials, for draws are int64


def binomial(xp: Any, uniform: Callable[..., Any], n: AnyArray, p: AnyArray) -> Any:
    """How many of `n` trials succeed, each with probability `p`, in float64.

    Args:
        xp: The namespace.
        uniform: Gives numbers in (0, 1) of a shape, in float64.
        n: float64.
        p: Of its shape and dtype.
    """
    fit = (n >= 0) & (p >= 0) & (p <= 1)  # what is not, NaN as well, would be rejected for ever
    n = xp.where(fit, xp.floor(xp.minimum(n, GREATEST)), 0.0)
    mirrored = p > 0.5
    rare = xp.where(fit, xp.where(mirrored, 1.0 - p, p), 0.0)
    large = n * rare >= LARGE
    few = xp.where(large, 0.0, n)
    counted = _counted(xp, uniform(*n.shape), few, xp.where(large, 0.0, rare))

    def trial(n: Any, p: Any) -> tuple[Any, Any]:
        return _trial(xp, uniform, n, p)

    k = by_rejection(xp, trial, large, counted, n, rare)
    return xp.where(mirrored, n - k, k)


def _counted(xp: Any, u: Any, n: Any, p: Any) -> Any:
    """The least k whose cumulative probability is above u; for p up to 1/2, and small n p."""
    odds = p / (1.0 - p)
    mass = xp.exp(n * xp.log1p(-p))
    total, k = mass, xp.zeros_like(mass)
    for i in range(1, 100):
        above = (u > total) & (k < n)
        if not bool(xp.any(above)):
            break
        k = k + xp.astype(above, k.dtype)
        mass = mass * odds * ((n - float(i - 1)) / i)
        total = total + mass
    return k


def _trial(xp: Any, uniform: Callable[..., Any], n: Any, p: Any) -> tuple[Any, Any]:
    """Draws by transformed rejection, where n p is 10 or more and p up to 1/2; which are accepted.

    Source: Hörmann 1993, "The generation of binomial random variates", algorithm BTRS.
    """
    root = xp.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * root
    a = -0.0873 + 0.0248 * b + 0.01 * p
    scale = (2.83 + 5.1 / b) * root
    mode = xp.floor((n + 1.0) * p)
    log_odds = xp.log(p) - xp.log1p(-p)
    u, v = uniform(*n.shape) - 0.5, uniform(*n.shape)
    near = 0.5 - xp.abs(u)
    k = xp.floor((2.0 * a / near + b) * u + n * p + 0.5)
    inside = (k >= 0) & (k <= n)
    k = xp.where(inside, k, mode)
    least = xp.log(v * scale / (a / (near * near) + b))
    fits = least <= _log_ways(mode, n) - _log_ways(k, n) + (k - mode) * log_odds
    return k, inside & fits


def _log_ways(k: Any, n: Any) -> Any:
    """Log (k! (n - k)!)."""
    return LGamma().evaluate(k + 1.0) + LGamma().evaluate(n - k + 1.0)
