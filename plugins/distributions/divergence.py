"""How far apart two distributions are."""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any, TypeAlias

from core import Variable
from core import functions as F
from core.errors import InvalidType
from core.typing import Shape
from plugins.distributions.bernoulli import Bernoulli
from plugins.distributions.beta import Beta
from plugins.distributions.binomial import Binomial
from plugins.distributions.categorical import Categorical, product_sum
from plugins.distributions.dirichlet import Dirichlet, log_norm
from plugins.distributions.distribution import (
    Distribution,
    in_double,
    log_beta,
    log_probability,
    summed,
    times,
    where,
)
from plugins.distributions.exponential import Exponential
from plugins.distributions.gamma import Gamma
from plugins.distributions.geometric import Geometric
from plugins.distributions.gumbel import EULER, Gumbel
from plugins.distributions.half_cauchy import HalfCauchy
from plugins.distributions.half_normal import HalfNormal
from plugins.distributions.independent import Independent
from plugins.distributions.laplace import Laplace
from plugins.distributions.log_normal import LogNormal
from plugins.distributions.logistic import Logistic
from plugins.distributions.multinomial import Multinomial
from plugins.distributions.multivariate_normal import MultivariateNormal
from plugins.distributions.negative_binomial import NegativeBinomial
from plugins.distributions.normal import Normal
from plugins.distributions.one_hot_categorical import OneHotCategorical
from plugins.distributions.pareto import Pareto
from plugins.distributions.poisson import Poisson
from plugins.distributions.transformed import TransformedDistribution
from plugins.distributions.uniform import Uniform
from plugins.distributions.von_mises import VonMises, log_i0e, mean_length
from plugins.distributions.weibull import Weibull

Formula: TypeAlias = Callable[[Any, Any], Variable]

_FORMULAS: dict[tuple[type, type], Formula] = {}


def register_kl(
    Dist1: type[Distribution], Dist2: type[Distribution]
) -> Callable[[Formula], Formula]:
    """Make a decorator that registers the formula of KL(p || q) for two classes of distributions.

    >>> import core.distributions as D
    >>> class Point(D.Distribution):
    ...     pass
    >>> @D.register_kl(Point, Point)
    ... def nothing(p, q):
    ...     return 0.0
    >>> D.kl_divergence(Point(), Point())
    0.0
    """

    def register(formula: Formula) -> Formula:
        _FORMULAS[Dist1, Dist2] = formula
        return formula

    return register


def kl_divergence(dist1: Distribution, dist2: Distribution) -> Variable:
    """Compute the Kullback-Leibler divergence KL(p || q) = E_p[log p(x) - log q(x)].

    The bundled formulas are computed in float64 and rounded.

    Args:
        dist1: p.
        dist2: q.

    Returns:
        The common shape of the batches.

    Raises:
        NotImplementedError: No formula is registered for the two classes or what they inherit from.

    >>> import core.distributions as D, numpy as np
    >>> D.kl_divergence(D.Normal(np.zeros(1, "f"), 1.0), D.Normal(np.full(1, 2, "f"), 1.0))
    variable([2.], dtype=float32)
    """
    for one in type(dist1).__mro__:
        for other in type(dist2).__mro__:
            formula = _FORMULAS.get((one, other))
            if formula is not None:
                _demand_alike("points", dist1.event_shape, dist2.event_shape)
                return _computed(formula, dist1, dist2)
    raise NotImplementedError(
        f"kl_divergence: expected classes with a formula, got {type(dist1).__name__} and "
        f"{type(dist2).__name__}. Give one by core.distributions.register_kl."
    )


def _computed(formula: Formula, p: Distribution, q: Distribution) -> Variable:
    """A formula of ours in float64: of distributions that are nearly equal all its terms cancel."""
    dtypes = {x.dtype for d in (p, q) for x in d.params.values()}
    ours = formula.__module__ == __name__ and p._is_ours and q._is_ours
    if not ours or len(dtypes) != 1 or isinstance(p, (Independent, Uniform)):
        return formula(p, q)  # ends of uniform ones are compared as they were rounded
    (dtype,) = dtypes
    return F.cast(formula(p._widened(), q._widened()), dtype)


def cross_entropy(dist1: Distribution, dist2: Distribution) -> Variable:
    """Compute the cross entropy -E_p[log q(x)], the entropy of p plus KL(p || q).

    Args:
        dist1: p.
        dist2: q.

    Returns:
        The common shape of the batches.

    Raises:
        NotImplementedError: The entropy or the divergence has no formula.

    >>> import core.distributions as D, numpy as np
    >>> fair = D.Bernoulli(np.full(1, 0.5, "d"))
    >>> D.cross_entropy(fair, fair)
    variable([0.69314718])
    """
    return dist1.entropy + kl_divergence(dist1, dist2)


def _demand_alike(what: str, one: Shape, other: Shape) -> None:
    """Refuse what would broadcast, but belongs together element by element."""
    if one != other:
        raise InvalidType(f"{what} of one shape", f"{one} and {other}", operation="kl_divergence")


def _demand(what: str, xp: Any, holds: Any) -> None:
    """Refuse what no formula is known for."""
    if not bool(xp.all(holds)):
        raise NotImplementedError(f"kl_divergence: expected {what}.")


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Variable:
    return times(p.p, p.log_p, q.log_p) + times(p._q, p.log_q, q.log_q)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Variable:
    return in_double(_betas, p.a, p.b, q.a, q.b)


def _betas(a: Variable, b: Variable, c: Variable, d: Variable) -> Variable:
    total = F.digamma(a + b)
    apart = (a - c) * (F.digamma(a) - total) + (b - d) * (F.digamma(b) - total)
    return log_beta(c, d) - log_beta(a, b) + apart


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Variable:
    n, other = F.broadcast(p.n, q.n)
    _demand("no more trials in the second than in the first", n.xp, n.array >= other.array)
    found = p.n * _bernoulli(p._trial, q._trial)
    return where(n.array > other.array, float("inf"), found)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Variable:
    _demand_alike("classes", p.p.shape[-1:], q.p.shape[-1:])
    return product_sum(p.p, p.log_p) - product_sum(p.p, q.log_p)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Variable:
    return product_sum(p.p, p.log_p) - product_sum(p.p, q.log_p)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Variable:
    return in_double(_dirichlets, p.alpha, q.alpha)


def _dirichlets(alpha: Variable, other: Variable) -> Variable:
    shape = F.digamma(alpha) - F.digamma(F.sum(alpha, axis=-1, keepdims=True))
    return log_norm(other) - log_norm(alpha) + F.sum((alpha - other) * shape, axis=-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Variable:
    return F.log(p.lam) - F.log(q.lam) + q.lam / p.lam - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Variable:
    return in_double(_gammas, p.k, p.theta, q.k, q.theta)


def _gammas(k: Variable, theta: Variable, other: Variable, scale: Variable) -> Variable:
    shapes = (k - other) * F.digamma(k) - F.lgamma(k) + F.lgamma(other)
    return shapes + other * (F.log(scale) - F.log(theta)) + k * (theta / scale - 1)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Variable:
    odds = (1 - p.p) / p.p
    return F.log(p.p) - F.log(q.p) + times(odds, p.log_q, q.log_q)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Variable:
    ratio = p.scale / q.scale
    apart = (p.loc - q.loc) / q.scale
    known = F.log(q.scale) - F.log(p.scale) + EULER * (ratio - 1) - 1
    return known + apart + F.exp(-apart + F.lgamma(ratio + 1))


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Variable:
    return _normals(0 * p.scale, p.scale, 0 * q.scale, q.scale)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Variable:
    n = p.reinterpreted_batch_ndims
    if n != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            f"kl_divergence: expected as many joined axes in both, got {n} and "
            f"{q.reinterpreted_batch_ndims}."
        )
    return summed(kl_divergence(p.distribution, q.distribution), n)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Variable:
    apart = F.absolute(p.loc - q.loc)
    ratio = p.scale / q.scale
    return ratio * F.exp(-apart / p.scale) + apart / q.scale - F.log(ratio) - 1


@register_kl(LogNormal, LogNormal)
def _log_normal(p: LogNormal, q: LogNormal) -> Variable:
    return _normals(p.mu, p.sigma, q.mu, q.sigma)


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Variable:
    return _normals(p.loc, p.scale, q.loc, q.scale)


def _normals(m: Variable, s: Variable, n: Variable, t: Variable) -> Variable:
    ratio, apart = s / t, (m - n) / t
    return 0.5 * (ratio * ratio + apart * apart - 1) - F.log(ratio)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Variable:
    solve = p.loc.__array_namespace__().linalg.solve
    mixed = solve(q.scale_tril, p.scale_tril)
    apart = F.squeeze(solve(q.scale_tril, F.expand_dims(p.loc - q.loc, -1)), axis=-1)
    square = F.sum(mixed * mixed, axis=(-2, -1)) + F.sum(apart * apart, axis=-1)
    return q.log_det - p.log_det + 0.5 * (square - p.event_shape[0])


@register_kl(Multinomial, Multinomial)
def _multinomial(p: Multinomial, q: Multinomial) -> Variable:
    n, other = F.broadcast(p.n, q.n)
    _demand("as many trials in both", n.xp, n.array == other.array)
    return p.n * _categorical(p._class, q._class)


@register_kl(NegativeBinomial, NegativeBinomial)
def _negative_binomial(p: NegativeBinomial, q: NegativeBinomial) -> Variable:
    r, other = F.broadcast(p.r, q.r)
    _demand("the same r in both", r.xp, r.array == other.array)
    return p.r * _bernoulli(p._trial, q._trial) / p.p


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Variable:
    p_scale, q_scale, p_alpha, q_alpha = F.broadcast(p.scale, q.scale, p.alpha, q.alpha)
    ratio = q_alpha / p_alpha
    found = q_alpha * (F.log(p_scale) - F.log(q_scale)) - F.log(ratio) + ratio - 1
    return where(p_scale.array >= q_scale.array, found, float("inf"))


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Variable:
    return in_double(_poissons, p.lam, q.lam)


def _poissons(lam: Variable, other: Variable) -> Variable:
    return times(lam, log_probability(lam), log_probability(other)) - lam + other


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Variable:
    low, high, below, above = F.broadcast(p.low, p.high, q.low, q.high)
    inside = (low.array >= below.array) & (high.array <= above.array)
    return where(inside, F.log(q.scale) - F.log(p.scale), float("inf"))


@register_kl(Weibull, Weibull)
def _weibull(p: Weibull, q: Weibull) -> Variable:
    """Of z = (x / p.scale)^p.k, which is exponential: E[log z] = -EULER, E[z^r] = Γ(r + 1)."""
    ratio, apart = q.k / p.k, F.log(p.scale) - F.log(q.scale)
    power = F.exp(q.k * apart + F.lgamma(ratio + 1))
    return power - F.log(ratio) - q.k * apart + EULER * (ratio - 1) - 1


@register_kl(VonMises, VonMises)
def _von_mises(p: VonMises, q: VonMises) -> Variable:
    k, other = p.concentration, q.concentration
    half = F.sin(0.5 * (p.loc - q.loc))
    apart = mean_length(k) * (k - other + 2 * other * half * half)
    return log_i0e(other) - log_i0e(k) + other - k + apart


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Variable:
    """Where the functions are the same objects, that of the distributions under them."""
    if list(map(id, p.transforms)) != list(map(id, q.transforms)):
        raise NotImplementedError(
            "kl_divergence: expected the same transforms, as objects, in both. Make them once, and "
            "give them to both."
        )
    return kl_divergence(p.distribution, q.distribution)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Exponential, q: Gamma) -> Variable:
    return in_double(_gammas, 0 * p.lam + 1, 1 / p.lam, q.k, q.theta)


_Classes: TypeAlias = tuple[type[Distribution], ...]
_NOT_NEGATIVE: _Classes = Beta, Gamma, HalfCauchy, HalfNormal, LogNormal, Pareto, Weibull
_REAL: _Classes = *_NOT_NEGATIVE, Exponential, Gumbel, Laplace, Logistic, Uniform


def _to_exponential(p: Distribution, q: Exponential) -> Variable:
    """Of densities over numbers that are not negative: log q(x) is linear in x."""
    return q.lam * p.mean - F.log(q.lam) - p.entropy


def _to_normal(p: Distribution, q: Normal) -> Variable:
    """Of densities: log q(x) is quadratic in x."""
    apart = (p.mean - q.loc) / q.scale
    square = p.variance / (q.scale * q.scale) + apart * apart
    return 0.5 * (square + log(2 * pi)) + q.log_scale - p.entropy


for _Dist in _NOT_NEGATIVE:
    register_kl(_Dist, Exponential)(_to_exponential)
for _Dist in _REAL:
    register_kl(_Dist, Normal)(_to_normal)
