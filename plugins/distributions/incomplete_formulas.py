"""The incomplete gamma and beta functions and their inverses, in the words of the array standard.

Each takes the namespace first, and arrays of float64. Series and continued fractions are summed
until all elements have converged; where derivatives by parameters are asked for, these are summed
along with them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, nan, pi
from typing import Any, TypeAlias

from core.functions import Digamma, LGamma, Ndtr
from core.typing import AnyArray

EPS = 2.0**-53
_TINY = 1e-300
FAR = 690.0  # exp(-FAR) is about the least number there is
_GREAT = 1e7  # shapes from which on gamma functions are all but normal
_STIRLING = 32.0  # the asymptotic series is good from there on
_LOOKS = 16  # how many terms are summed between looks at how much is left

Pair: TypeAlias = tuple[AnyArray, AnyArray]


class Sloped:
    """An array and its derivatives in some parameters, which arithmetic carries along."""

    def __init__(self, value: Any, *slopes: Any) -> None:
        self.value = value
        self.slopes = slopes

    def __add__(self, other: Any) -> Sloped:
        other = _sloped(other, self)
        pairs = zip(self.slopes, other.slopes, strict=True)
        return Sloped(self.value + other.value, *[a + b for a, b in pairs])

    def __mul__(self, other: Any) -> Sloped:
        other = _sloped(other, self)
        pairs = zip(self.slopes, other.slopes, strict=True)
        slopes = [a * other.value + b * self.value for a, b in pairs]
        return Sloped(self.value * other.value, *slopes)

    def __truediv__(self, other: Any) -> Sloped:
        other = _sloped(other, self)
        value = self.value / other.value
        pairs = zip(self.slopes, other.slopes, strict=True)
        return Sloped(value, *[(a - b * value) / other.value for a, b in pairs])


def _sloped(x: Any, like: Sloped) -> Sloped:
    return x if isinstance(x, Sloped) else Sloped(x, *[0.0 * s for s in like.slopes])


def fraction(xp: Any, term: Callable[[int], tuple[Any, Any]], first: Sloped) -> Sloped:
    """The continued fraction b0 + a1 / (b1 + a2 / (b2 + ...)), where `term(n)` is (an, bn).

    Source: Thompson and Barnett 1986, "Coulomb and Bessel functions of complex arguments and
    order", the modified method of Lentz.
    """
    c = _away(xp, first)
    f: Sloped = c
    d = Sloped(xp.zeros_like(first.value), *[0.0 * s for s in first.slopes])
    n, left = 0, True
    while left:
        for _ in range(_LOOKS):
            n += 1
            a, b = term(n)
            d = _sloped(1.0, d) / _away(xp, d * a + b)
            c = _away(xp, _sloped(a, c) / c + b)
            step = c * d
            f = f * step
        left = bool(xp.any(xp.abs(step.value - 1.0) > 4 * EPS))
        for change, slope in zip(step.slopes, f.slopes, strict=True):
            left = left or bool(xp.any(xp.abs(change * f.value) > 16 * EPS * (1 + xp.abs(slope))))
    return f


def _away(xp: Any, x: Any) -> Any:
    """The same, where it is not 0."""
    return Sloped(xp.where(xp.abs(x.value) < _TINY, _TINY, x.value), *x.slopes)


def _log_gamma(x: Any) -> Any:
    return LGamma().evaluate(x)


def _digamma(x: Any) -> Any:
    return Digamma().evaluate(x)


# -- gamma ----------------------------------------------------------------------------------------


def log_gamma_density(xp: Any, a: Any, x: Any) -> AnyArray:
    """The logarithm of x^a exp(-x) / Γ(a + 1), precise where `a` is large, too."""
    large = a > _STIRLING
    big = xp.where(large, a, _STIRLING)
    apart = xp.where(large, x - a, 0.0) / big
    # log Γ(a + 1) is (a + 1/2) log a - a + log(2π) / 2 and a small correction.
    inverse, square = 1.0 / big, 1.0 / (big * big)
    correction = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    above = big * (xp.log1p(apart) - apart) - 0.5 * xp.log(2 * pi * big) - correction
    small = xp.where(large, 1.0, a)
    below = small * xp.log(x) - x - _log_gamma(small + 1.0)
    return xp.where(large, above, below)


def gamma_tails(xp: Any, a: Any, x: Any) -> Pair:
    """P(a, x) and Q(a, x) = 1 - P(a, x), each precise where it is small; 0 < a and 0 < x < inf."""
    low, high = _gamma_tails(xp, Sloped(a), x)
    return low.value, high.value


def gamma_slope(xp: Any, a: Any, x: Any) -> AnyArray:
    """The derivative of P(a, x) in `a`."""
    return _gamma_tails(xp, Sloped(a, xp.ones_like(a)), x)[0].slopes[0]


def _gamma_tails(xp: Any, a: Sloped, x: Any) -> tuple[Sloped, Sloped]:
    """By series and fractions, whose terms are as many as the root of `a`, or by their limit."""
    great = a.value > _GREAT
    ones = Sloped(xp.ones_like(x), *[0.0 * s for s in a.slopes])
    low, high = _summed_gamma_tails(xp, _where(xp, great, ones, a), xp.where(great, 1.0, x))
    if not bool(xp.any(great)):
        return low, high
    found = _great_gamma_tails(xp, _where(xp, great, a, ones * _GREAT), x)
    return _where(xp, great, found[0], low), _where(xp, great, found[1], high)


def _great_gamma_tails(xp: Any, a: Sloped, x: Any) -> tuple[Sloped, Sloped]:
    """Source: Temme 1979, "The asymptotic expansion of the incomplete gamma functions"."""
    k = a.value
    mu = xp.clip((x - k) / k, -1.0 + _TINY, None)
    near = xp.abs(mu) < 0.05
    m = xp.where(near, mu, 0.05)
    series = xp.zeros_like(m)
    for n in range(14, 1, -1):  # of mu - log(1 + mu), whose two terms cancel, over mu²
        series = (1 / n if n % 2 == 0 else -1 / n) + m * series
    rest = xp.where(near, 0.0, mu)
    half = xp.where(near, m * m * series, rest - xp.log1p(rest))  # eta² / 2
    eta = xp.sign(mu) * xp.sqrt(2.0 * half)
    e, far = xp.where(near, eta, 0.0), xp.where(near, 1.0, eta)
    zeroth = -1 / 3 + e * (1 / 12 - e * (2 / 135 - e * (1 / 864 + e * (1 / 2835))))
    zeroth = xp.where(near, zeroth, 1.0 / xp.where(near, 1.0, mu) - 1.0 / far)
    bell = xp.exp(-k * half) / xp.sqrt(2 * pi * k)
    z = eta * xp.sqrt(k)
    low, high = (Ndtr().evaluate(s * z) - s * bell * zeroth for s in (1.0, -1.0))
    # At a fixed probability x is a + z √a + (z² - 1) / 3, of a z that is nearly normal, and stays.
    rate = -bell * (k - 1 / 12) / xp.maximum(x, xp.full_like(x, _TINY))
    rate = rate * (1.0 + 0.5 * mu - (mu * mu - 1.0 / k) / 6.0)
    down, up = [rate * s for s in a.slopes], [-rate * s for s in a.slopes]
    return Sloped(low, *down), Sloped(high, *up)


def _summed_gamma_tails(xp: Any, a: Sloped, x: Any) -> tuple[Sloped, Sloped]:
    """Source: Press et al. 2007, "Numerical Recipes", section 6.2."""
    density = xp.exp(log_gamma_density(xp, a.value, x))
    rate = xp.log(x) - _digamma(a.value + 1.0)
    front = Sloped(density, *[density * rate * s for s in a.slopes])
    left = x < a.value + 1.0
    ones = Sloped(xp.ones_like(x), *[0.0 * s for s in a.slopes])
    # The tail is 0 where the density is, and slopes may never converge there, as 1 / x² is 0, too.
    none = density == 0
    a, x = _where(xp, none, ones, a), xp.where(none, 1.0, x)
    low = front * _gamma_series(xp, a, xp.where(left, x, 0.0))
    right = _gamma_fraction(xp, a, xp.where(left, 2.0 * a.value + 2.0, x))
    high = front * a / right
    return _where(xp, left, low, ones + high * -1.0), _where(xp, left, ones + low * -1.0, high)


def _where(xp: Any, condition: Any, one: Sloped, other: Sloped) -> Sloped:
    pairs = zip(one.slopes, other.slopes, strict=True)
    slopes = [xp.where(condition, a, b) for a, b in pairs]
    return Sloped(xp.where(condition, one.value, other.value), *slopes)


def _gamma_series(xp: Any, a: Sloped, x: Any) -> Sloped:
    """1 + x / (a + 1) + x² / ((a + 1) (a + 2)) + ..."""
    term = total = Sloped(xp.ones_like(x), *[0.0 * s for s in a.slopes])
    n, left = 0, True
    while left:
        for _ in range(_LOOKS):
            n += 1
            term = term * x / (a + float(n))
            total = total + term
        parts = [(term.value, total.value), *zip(term.slopes, total.slopes, strict=True)]
        left = any([bool(xp.any(xp.abs(t) > EPS * xp.abs(s))) for t, s in parts])
    return total


def _gamma_fraction(xp: Any, a: Sloped, x: Any) -> Sloped:
    """Γ(a, x) is exp(-x) x^a over this: x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)."""
    minus = a * -1.0

    def term(n: int) -> tuple[Sloped, Sloped]:
        return (a + float(-n)) * float(n), minus + (x + float(2 * n + 1))

    return fraction(xp, term, minus + (x + 1.0))


# -- beta -----------------------------------------------------------------------------------------


def log_beta_density(xp: Any, a: Any, b: Any, x: Any, y: Any) -> AnyArray:
    """The logarithm of x^a y^b / B(a, b), where y is 1 - x; precise where a or b is large, too."""
    n = a + b
    large = n > 2 * _STIRLING
    below = a * xp.log(x) + b * xp.log(y) + _log_gamma(n) - _log_gamma(a) - _log_gamma(b)
    # By Stirling's formula it is that of the ratios of x and y to their means, which are near 1.
    apart = xp.where(large, x * b - y * a, 0.0)
    above = _apart(xp, a, x, n, apart / a) + _apart(xp, b, y, n, -apart / b)
    rest = _correction(xp, n) - _correction(xp, a) - _correction(xp, b)
    above = above + 0.5 * (xp.log(a) - xp.log(n) + xp.log(b) - log(2 * pi)) + rest
    return xp.where(large, above, below)


def _apart(xp: Any, a: Any, x: Any, n: Any, mu: Any) -> AnyArray:
    """A (log(1 + mu) - mu), where 1 + mu is x n / a."""
    near = xp.abs(mu) < 0.5
    m = xp.where(near, mu, 0.0)
    logarithm = xp.where(near, xp.log1p(m), xp.log(x) + xp.log(n) - xp.log(a))
    return a * (logarithm - mu)


def _correction(xp: Any, a: Any) -> AnyArray:
    """Log Γ(a) - (a - 1/2) log a + a - log(2π) / 2."""
    large = a > _STIRLING
    inverse = 1.0 / xp.where(large, a, _STIRLING)
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    few = xp.where(large, 1.0, a)
    return xp.where(
        large, series, _log_gamma(few) - (few - 0.5) * xp.log(few) + few - 0.5 * log(2 * pi)
    )


def beta_tails(xp: Any, a: Any, b: Any, x: Any, y: Any) -> Pair:
    """I(x; a, b) and 1 - I(x; a, b), each precise where it is small; 0 < x < 1, and y is 1 - x."""
    low, high = _beta_tails(xp, Sloped(a), Sloped(b), x, y)
    return low.value, high.value


def beta_slope(xp: Any, a: Any, b: Any, x: Any, y: Any, in_b: bool = False) -> AnyArray:
    """The derivative of I(x; a, b) in `a`, or in `b`; y is 1 - x."""
    slopes = xp.ones_like(x), xp.zeros_like(x)
    first, second = Sloped(a, slopes[in_b]), Sloped(b, slopes[not in_b])
    return _beta_tails(xp, first, second, x, y)[0].slopes[0]


def _beta_tails(xp: Any, a: Sloped, b: Sloped, x: Any, y: Any) -> tuple[Sloped, Sloped]:
    """By a fraction, whose terms are as many as the root of the less of both, or by its limit."""
    great = (a.value > _GREAT) & (b.value > _GREAT)
    ones = Sloped(xp.ones_like(x), *[0.0 * s for s in a.slopes])
    first, second = _where(xp, great, ones, a), _where(xp, great, ones, b)
    few = xp.where(great, 0.5, x), xp.where(great, 0.5, y)
    low, high = _summed_beta_tails(xp, first, second, *few)
    if not bool(xp.any(great)):
        return low, high
    first, second = _where(xp, great, a, ones * _GREAT), _where(xp, great, b, ones * _GREAT)
    found = _great_beta_tails(xp, first, second, x, y)
    return _where(xp, great, found[0], low), _where(xp, great, found[1], high)


def _great_beta_tails(xp: Any, a: Sloped, b: Sloped, x: Any, y: Any) -> tuple[Sloped, Sloped]:
    """Source: Temme 1982, "The uniform asymptotic expansion of a class of integrals"."""
    n = a.value + b.value
    mean, rest = a.value / n, b.value / n
    # What is farther from the mean than this has tails that are 0 in double precision.
    most = 0.05 * xp.minimum(mean, rest)
    apart = xp.clip(x * rest - y * mean, -most, most)
    up, down = apart / mean, -apart / rest  # of the ratios of x and y to their means, less 1
    cubes = [_cubic(xp, m) for m in (up, down)]
    root = xp.sqrt(mean * rest)
    cubic = -2.0 * root * (rest / mean * cubes[0] - mean / rest * cubes[1])
    stretch = xp.sqrt(1.0 + cubic * apart / root)  # eta over what it is in the limit
    zeroth = cubic / (stretch * (stretch + 1.0))
    z = stretch * apart / root * xp.sqrt(n)
    bell = xp.exp(-0.5 * z * z) / xp.sqrt(2 * pi * n)
    low, high = (Ndtr().evaluate(s * z) - s * bell * zeroth for s in (1.0, -1.0))
    bell = bell * (1.0 + z * zeroth / xp.sqrt(n)) * root / stretch
    # The derivatives of z are -log(x / mean) / z and -log(y / rest) / z.
    rates = [
        sign * bell / size * (1.0 - m * (0.5 - m * cube))
        for sign, size, m, cube in zip((-1, 1), (mean, rest), (up, down), cubes, strict=True)
    ]
    pairs = zip(a.slopes, b.slopes, strict=True)
    slopes = [rates[0] * s + rates[1] * t for s, t in pairs]
    return Sloped(low, *slopes), Sloped(high, *[-slope for slope in slopes])


def _cubic(xp: Any, m: Any) -> AnyArray:
    """(log(1 + m) - m + m² / 2) / m³, of small m."""
    series = xp.zeros_like(m)
    for n in range(15, 2, -1):
        series = (1 / n if n % 2 else -1 / n) + m * series
    return series


def _summed_beta_tails(xp: Any, a: Sloped, b: Sloped, x: Any, y: Any) -> tuple[Sloped, Sloped]:
    """By the tail on the side of the point, whose fraction converges."""
    density = xp.exp(log_beta_density(xp, a.value, b.value, x, y))
    both = _digamma(a.value + b.value)
    rates = xp.log(x) + both - _digamma(a.value), xp.log(y) + both - _digamma(b.value)
    pairs = zip(a.slopes, b.slopes, strict=True)
    front = Sloped(density, *[density * (rates[0] * s + rates[1] * t) for s, t in pairs])
    left = x < (a.value + 1.0) / (a.value + b.value + 2.0)
    ones = Sloped(xp.ones_like(x), *[0.0 * s for s in a.slopes])
    # The tail is 0 where the density is, and slopes may never converge there.
    none = density == 0
    near, far = [_where(xp, none, ones, _where(xp, left, *pair)) for pair in ((a, b), (b, a))]
    points = [xp.where(none, 0.5, xp.where(left, *pair)) for pair in ((x, y), (y, x))]
    tail = front / _beta_fraction(xp, near, far, *points)
    rest = ones + tail * -1.0
    return _where(xp, left, tail, rest), _where(xp, left, rest, tail)


def _beta_fraction(xp: Any, a: Sloped, b: Sloped, x: Any, y: Any) -> Sloped:
    """x^a y^b / (B(a, b) I(x; a, b)), of which 1 - x is y, and neither is computed by the other.

    Source: DiDonato and Morris 1992, "Significant digit computation of the incomplete beta function
    ratios", equation 9.
    """
    whole, start = a + b, a * y + b * -x + 1.0
    share = first = a / (a + 1.0)

    def term(n: int) -> tuple[Sloped, Sloped]:
        nonlocal share  # of the term before
        part = (b + float(-n)) * (n * x) / (a + float(2 * n - 1))
        up = share * (whole + float(n - 1)) * part * x
        share = (a + float(n)) / (a + float(2 * n + 1))
        return up, part + share * (start + n * (1.0 + y)) + float(n)

    return fraction(xp, term, first * start)


# -- inverses -------------------------------------------------------------------------------------

Tails: TypeAlias = Callable[[Any], tuple[AnyArray, AnyArray, AnyArray]]


def inverse(xp: Any, tails: Tails, p: Any, start: Any) -> AnyArray:
    """The u whose lower tail is p, by Newton's method on logarithms, kept within halving intervals.

    Args:
        xp: The namespace.
        tails: u -> the tails below and above it, and the derivative of the lower one.
        p: Within (0, 1).
        start: Guesses, of which those beyond FAR are taken as they are.
    """
    low, high = xp.full_like(p, -FAR), xp.full_like(p, FAR)
    lower = p < 0.5
    target = xp.log(xp.where(lower, p, 1.0 - p))
    least = xp.full_like(p, 5e-324)  # the least there is, for p may be less than others
    u, done = start, xp.abs(start) >= FAR
    for _ in range(100):
        below, above, slope = tails(u)
        tail = xp.where(lower, below, above)
        apart = xp.log(xp.maximum(tail, least)) - target
        beyond = xp.where(lower, apart > 0, apart < 0)
        high, low = xp.where(beyond, u, high), xp.where(beyond, low, u)
        fits = (slope > 1e-200) & (tail > 1e-200)
        rate = xp.where(fits, slope, 1.0) / xp.where(fits, tail, 1.0)
        guess = u + xp.where(lower, -apart, apart) / rate
        # Steps of Newton's method double the digits: what follows one of 1e-10 is below rounding.
        near = fits & (xp.abs(guess - u) <= 1e-10)
        fits = near | (fits & (guess > low) & (guess < high))
        u = xp.where(done, u, xp.where(fits, guess, 0.5 * (low + high)))
        done = done | near | (high - low <= 1e-13)
        if bool(xp.all(done)):
            break
    return u


def inside(xp: Any, formula: Callable[..., Any], fit: Any, edges: Any, *inputs: Any) -> AnyArray:
    """The formula where `fit`, and `edges` elsewhere; it sees 0.5 in place of what does not fit."""
    return xp.where(fit, formula(xp, *[xp.where(fit, x, 0.5) for x in inputs]), edges)


def _edges(xp: Any, known: Any, below: tuple[Any, float], above: tuple[Any, float]) -> AnyArray:
    """The value of each pair where its condition holds; NaN elsewhere."""
    found = xp.full_like(xp.astype(known, xp.float64), nan)
    for condition, value in (below, above):
        found = xp.where(known & condition, value, found)
    return found


def _over_gamma(xp: Any, formula: Any, a: Any, x: Any, first: float, last: float) -> AnyArray:
    """The formula for a > 0 and x > 0, with its values at 0 and at infinity."""
    below = (x <= 0) | ((a == inf) & (x < inf))
    edges = _edges(xp, a > 0, (below, first), (x == inf, last))
    return inside(xp, formula, (a > 0) & (a < inf) & (x > 0) & (x < inf), edges, a, x)


def gammainc(xp: Any, a: Any, x: Any) -> AnyArray:
    """P(a, x); NaN unless a > 0."""
    return _over_gamma(xp, lambda *given: gamma_tails(*given)[0], a, x, 0.0, 1.0)


def gammaincc(xp: Any, a: Any, x: Any) -> AnyArray:
    """Q(a, x); NaN unless a > 0."""
    return _over_gamma(xp, lambda *given: gamma_tails(*given)[1], a, x, 1.0, 0.0)


def gammainc_slope(xp: Any, a: Any, x: Any) -> AnyArray:
    """The derivative of P(a, x) in `a`."""
    return _over_gamma(xp, gamma_slope, a, x, 0.0, 0.0)


def gammaincinv(xp: Any, a: Any, p: Any) -> AnyArray:
    """The x with P(a, x) = p: infinite at 1; NaN unless a > 0 and 0 <= p <= 1."""
    edges = _edges(xp, a > 0, (p == 0, 0.0), (p == 1, inf))
    return inside(xp, _gammaincinv, (a > 0) & (a < inf) & (p > 0) & (p < 1), edges, a, p)


def _gammaincinv(xp: Any, a: Any, p: Any) -> AnyArray:
    """By the logarithm of x: a log x - log Γ(a + 1) is about log p where x is small."""
    small, middle = (xp.log(p) + _log_gamma(a + 1.0)) / a, xp.log(a)

    def tails(u: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
        x = xp.exp(xp.clip(u, -FAR, FAR))
        return (*gamma_tails(xp, a, x), a * xp.exp(log_gamma_density(xp, a, x)))

    return xp.exp(inverse(xp, tails, p, xp.minimum(small, middle)))


def _over_beta(
    xp: Any, formula: Any, a: Any, b: Any, x: Any, first: float, last: float
) -> AnyArray:
    """The formula for positive a and b, and x in (0, 1), with its values below and above."""
    known = (a > 0) & (b > 0)
    edges = _edges(xp, known, (x <= 0, first), (x >= 1, last))
    fit = known & (a < inf) & (b < inf) & (x > 0) & (x < 1)
    return inside(xp, formula, fit, edges, a, b, x)


def betainc(xp: Any, a: Any, b: Any, x: Any) -> AnyArray:
    """I(x; a, b); NaN unless a > 0 and b > 0."""

    def lower(xp: Any, a: Any, b: Any, x: Any) -> AnyArray:
        return beta_tails(xp, a, b, x, 1.0 - x)[0]

    return _over_beta(xp, lower, a, b, x, 0.0, 1.0)


def betaincc(xp: Any, a: Any, b: Any, x: Any) -> AnyArray:
    """1 - I(x; a, b); NaN unless a > 0 and b > 0."""

    def upper(xp: Any, a: Any, b: Any, x: Any) -> AnyArray:
        return beta_tails(xp, a, b, x, 1.0 - x)[1]

    return _over_beta(xp, upper, a, b, x, 1.0, 0.0)


def betainc_slope(xp: Any, a: Any, b: Any, x: Any, in_b: bool = False) -> AnyArray:
    """The derivative of I(x; a, b) in `a`, or in `b`."""

    def slope(xp: Any, a: Any, b: Any, x: Any) -> AnyArray:
        return beta_slope(xp, a, b, x, 1.0 - x, in_b)

    return _over_beta(xp, slope, a, b, x, 0.0, 0.0)


def betaincinv(xp: Any, a: Any, b: Any, p: Any) -> AnyArray:
    """The x with I(x; a, b) = p; NaN unless a > 0, b > 0 and 0 <= p <= 1."""
    fit = (p >= 0) & (p <= 1)
    return xp.where(fit, _over_beta(xp, _betaincinv, a, b, p, 0.0, 1.0), nan)


def _betaincinv(xp: Any, a: Any, b: Any, p: Any) -> AnyArray:
    u = beta_log_odds(xp, a, b, p)
    return xp.where(u <= -FAR, xp.exp(u), _halves(xp, u)[0])


def _halves(xp: Any, u: Any) -> Pair:
    """The x with log(x / (1 - x)) = u, and 1 - x."""
    less = xp.exp(-xp.clip(xp.abs(u), 0.0, FAR))
    less, more = less / (1.0 + less), 1.0 / (1.0 + less)
    return xp.where(u < 0, less, more), xp.where(u < 0, more, less)


def beta_log_odds(xp: Any, a: Any, b: Any, p: Any) -> AnyArray:
    """Log(x / (1 - x)) of the x with I(x; a, b) = p, for positive a and b, and p in (0, 1).

    Where x is small, a log x - log(a B(a, b)) is about log p.
    """
    log_beta = _log_gamma(a) + _log_gamma(b) - _log_gamma(a + b)
    small = (xp.log(p) + xp.log(a) + log_beta) / a
    large = -(xp.log1p(-p) + xp.log(b) + log_beta) / b
    middle = xp.log(a) - xp.log(b)

    def tails(u: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
        x, y = _halves(xp, u)
        return (*beta_tails(xp, a, b, x, y), xp.exp(log_beta_density(xp, a, b, x, y)))

    start = xp.where(small < middle, small, xp.where(large > middle, large, middle))
    return inverse(xp, tails, p, start)
