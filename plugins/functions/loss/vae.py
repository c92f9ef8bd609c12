"""Likelihoods and divergences of autoencoders that draw from distributions."""

from __future__ import annotations

from math import log, pi

from core import Domain, Elementwise, Variable, real
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.activation.sigmoid import Sigmoid
from plugins.functions.loss.reduction import check_reduce, reduced

HALF_LOG_TWO_PI = 0.5 * log(2 * pi)
REDUCTIONS = ("sum", "mean", "no")


class GaussianNLL(Elementwise):
    """(ln(2 pi) + ln_var + (x - mean)^2 exp(-ln_var)) / 2.

    In units of the standard deviation, z = (x - mean) exp(-ln_var / 2), the derivatives are
    z exp(-ln_var / 2), its negative, and (1 - z^2) / 2.
    """

    wide = True
    domain = Domain(x=real(-3, 3), mean=real(-3, 3), ln_var=real(-2, 2))

    def compute(self, xp, x, mean, ln_var):
        z = (x - mean) * xp.exp(-0.5 * ln_var)
        return 0.5 * (z * z + ln_var) + HALF_LOG_TWO_PI

    def gradient_x(self, xp, g, x, mean, ln_var):
        inverse = xp.exp(-0.5 * ln_var)  # its square may be beyond the dtype
        return g * ((x - mean) * inverse) * inverse

    def gradient_mean(self, xp, g, x, mean, ln_var):
        inverse = xp.exp(-0.5 * ln_var)
        return g * ((mean - x) * inverse) * inverse

    def gradient_ln_var(self, xp, g, x, mean, ln_var):
        z = (x - mean) * xp.exp(-0.5 * ln_var)
        return g * (0.5 - 0.5 * z * z)


class GaussianKLDivergence(Elementwise):
    """(mean^2 + exp(ln_var) - 1 - ln_var) / 2; the derivatives are mean and expm1(ln_var) / 2."""

    wide = True
    domain = Domain(mean=real(-3, 3), ln_var=real(-3, 3))

    def compute(self, xp, mean, ln_var):
        return 0.5 * (mean * mean + (xp.expm1(ln_var) - ln_var))

    def gradient_mean(self, xp, g, mean):
        return g * mean

    def gradient_ln_var(self, xp, g, ln_var):
        return g * 0.5 * xp.expm1(ln_var)


class BernoulliNLL(Elementwise):
    """log(1 + exp(y)) - x y; the derivatives are -y and sigmoid(y) - x."""

    wide = True
    domain = Domain(x=real(0, 1), y=real(-8, 8))

    def compute(self, xp, x, y):
        return xp.maximum(y, 0.0) - x * y + xp.log1p(xp.exp(-xp.abs(y)))

    def gradient_x(self, xp, g, y):
        return -g * y

    def gradient_y(self, xp, g, x, y):
        return g * (Sigmoid().evaluate(y) - x)


@checked
def gaussian_nll(x: Array, mean: Array, ln_var: Array, reduce: str = "sum") -> Variable:
    """Compute the negative log-likelihood of `x` under normal distributions, element by element.

    -ln N(x; μ, σ²) = (ln 2π + ln σ² + (x - μ)² / σ²) / 2

    Args:
        x: Floating, of any shape.
        mean: μ, of the dtype of `x`, and a shape that broadcasts.
        ln_var: ln σ², likewise.
        reduce: 'sum', 'mean', or 'no' for the loss of each element.

    Returns:
        No axes, or the common shape with `reduce='no'`, and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    >>> import core.functions as F, numpy as np
    >>> zero = np.zeros(2, "f")
    >>> F.gaussian_nll(np.array([0, 2], "f"), zero, zero, reduce="no")
    variable([0.9189385, 2.9189386], dtype=float32)
    """
    check_reduce("gaussian_nll", reduce, REDUCTIONS)
    return reduced(GaussianNLL.call(x, mean, ln_var), reduce)


@checked
def gaussian_kl_divergence(mean: Array, ln_var: Array, reduce: str = "sum") -> Variable:
    """Compute the Kullback-Leibler divergence of normal distributions from the standard one.

    KL(N(μ, σ²) | N(0, 1)) = (μ² + σ² - 1 - ln σ²) / 2, element by element.

    Args:
        mean: μ, floating, of any shape.
        ln_var: ln σ², of the dtype of `mean`, and a shape that broadcasts.
        reduce: 'sum', 'mean', or 'no' for the divergence of each element.

    Returns:
        No axes, or the common shape with `reduce='no'`, and the dtype of `mean`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    Source: Kingma and Welling 2013 (arXiv:1312.6114), appendix B.

    >>> import core.functions as F, numpy as np
    >>> F.gaussian_kl_divergence(np.array([0, 2], "f"), np.zeros(2, "f"))
    variable(2., dtype=float32)
    """
    check_reduce("gaussian_kl_divergence", reduce, REDUCTIONS)
    return reduced(GaussianKLDivergence.call(mean, ln_var), reduce)


@checked
def bernoulli_nll(x: Array, y: Array, reduce: str = "sum") -> Variable:
    """Compute the negative log-likelihood of `x` under Bernoulli distributions of logits `y`.

    -x ln σ(y) - (1 - x) ln(1 - σ(y)) = ln(1 + exp(y)) - x y, right for logits of any size.

    Args:
        x: Floating, of any shape, each element in [0, 1].
        y: Logits, of the dtype of `x`, and a shape that broadcasts.
        reduce: 'sum', 'mean', or 'no' for the loss of each element.

    Returns:
        No axes, or the common shape with `reduce='no'`, and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    >>> import core.functions as F, numpy as np
    >>> F.bernoulli_nll(np.array([1, 0], "f"), np.array([0, 1000], "f"), reduce="no")
    variable([6.931472e-01, 1.000000e+03], dtype=float32)
    """
    check_reduce("bernoulli_nll", reduce, REDUCTIONS)
    return reduced(BernoulliNLL.call(x, y), reduce)
