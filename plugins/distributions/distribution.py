"""What all distributions have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any

from core import Variable, as_variable, backend, config
from core import functions as F
from core.errors import InvalidType
from core.errors.kinds import checked
from core.errors.scalars import is_scalar, python_number
from core.ops.types.shapes import broadcast_shapes
from core.typing import Array, Number, Operand, Shape
from plugins.distributions.ends import ENDS, with_ends
from plugins.distributions.limits import limits


class Distribution:
    """Probability distributions, one for each index of a batch.

    A subclass takes its parameters by `_parameters` and gives `log_prob` and `sample_n`, and what
    else is known of it: `mean`, `variance`, `entropy`, `mode`, `cdf`, `icdf`. The rest follows.
    What is not known in closed form raises NotImplementedError.

    Points and draws have the shape (..., *batch_shape, *event_shape); densities and what is known
    of each distribution have (..., *batch_shape). Gradients reach parameters and points.

    >>> import core.distributions as D, numpy as np
    >>> normal = D.Normal(np.zeros(3, "f"), 1.0)
    >>> normal.batch_shape, normal.event_shape, normal.sample((4, 2)).shape
    ((3,), (), (4, 2, 3))
    """

    support: str = "real"
    """Where its points lie, in a word or two."""
    event_shape: Shape = ()
    """The shape of one point."""
    batch_shape: Shape = ()
    """How many distributions there are, along which axes."""
    _params: dict[str, Variable]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ENDS.keys() & vars(cls).keys():
            setattr(cls, name, with_ends(name, vars(cls)[name]))
        if "sample_n" in vars(cls):
            setattr(cls, "sample_n", _of_a_number(vars(cls)["sample_n"]))  # noqa: B010

    def _parameters(self, event_ndim: int = 0, /, **given: Operand) -> list[Variable]:
        """The parameters as Variables of one batch; each has `event_ndim` axes of its own.

        Numbers, and integers, get the dtype of the floating arrays beside them, or
        `core.config.dtype`.
        """
        values = [plain(x) for x in given.values()]
        arrays = floating(*[x for x in values if not isinstance(x, (int, float))])
        if arrays:
            spec: tuple[Any, ...] = arrays[0].backend, arrays[0].dtype, arrays[0].device
        else:
            spec = backend.current(), config.dtype, None
        rest = iter(arrays)
        found = [
            as_variable(spec[0].asarray(x, *spec[1:]))
            if isinstance(x, (int, float))
            else next(rest)
            for x in values
        ]
        if len(found) > 1:
            found = list(F.broadcast(*found))
        shape = found[0].shape
        if len(shape) < event_ndim:
            name = next(iter(given))
            raise InvalidType(
                f"{name}.ndim >= {event_ndim}", str(len(shape)), operation=type(self).__name__
            )
        self._params = dict(zip(given, found, strict=True))
        self.batch_shape = shape[: len(shape) - event_ndim]
        self.event_shape = shape[len(shape) - event_ndim :]
        return found

    # ------------------------------------------------------------------ what is known

    @property
    def params(self) -> dict[str, Variable]:
        """Parameters by name; none where a class of one's own has not said which."""
        return dict(getattr(self, "_params", {}))

    @property
    def xp(self) -> Any:
        """The array functions of the parameters' backend."""
        return self._like.xp

    @property
    def mean(self) -> Variable:
        """The mean of each distribution, with the axes of a point behind."""
        raise self._unknown("mean")

    @property
    def mode(self) -> Variable:
        """The likeliest point of each distribution."""
        raise self._unknown("mode")

    @property
    def variance(self) -> Variable:
        """The variance of each element of a point."""
        raise self._unknown("variance")

    @property
    def stddev(self) -> Variable:
        """The standard deviation of each element of a point."""
        dtypes = {p.dtype for p in self._params.values()} if self._is_ours else set()
        if len(dtypes) != 1:
            return F.sqrt(self.variance)
        (dtype,) = dtypes  # which may hold the root where it does not hold the square
        return F.cast(F.sqrt(self._widened().variance), dtype)

    @property
    def covariance(self) -> Variable:
        """The covariance of the elements of a point."""
        raise self._unknown("covariance")

    @property
    def entropy(self) -> Variable:
        """The entropy of each distribution, in nats."""
        raise self._unknown("entropy")

    @property
    def perplexity(self) -> Variable:
        """Exp of the entropy."""
        return F.exp(self.entropy)

    # ------------------------------------------------------------------ densities

    def log_prob(self, x: Array) -> Variable:
        """The logarithm of the density, or of the probability, of points."""
        raise self._unknown("log_prob")

    def prob(self, x: Array) -> Variable:
        """The density, or the probability, of points."""
        return F.exp(self.log_prob(x))

    def cdf(self, x: Array) -> Variable:
        """The probability of a point that is not above `x`."""
        raise self._unknown("cdf")

    def log_cdf(self, x: Array) -> Variable:
        """The logarithm of `cdf`."""
        return self._in_double(lambda d, x: _log(d.cdf(x), d.survival_function(x)), x)

    def survival_function(self, x: Array) -> Variable:
        """The probability of a point above `x`."""
        return 1 - self.cdf(x)

    def log_survival_function(self, x: Array) -> Variable:
        """The logarithm of `survival_function`."""
        return self._in_double(lambda d, x: _log(d.survival_function(x), d.cdf(x)), x)

    def icdf(self, p: Array) -> Variable:
        """The point whose `cdf` is `p`, in (0, 1)."""
        raise self._unknown("icdf")

    # ------------------------------------------------------------------ draws

    @checked
    def sample(self, sample_shape: Number | tuple[Number, ...] = ()) -> Variable:
        """Draw points, independently of each other.

        Returns:
            (*sample_shape, *batch_shape, *event_shape).
        """
        shape: Shape = (sample_shape,) if isinstance(sample_shape, int) else tuple(sample_shape)
        drawn = self.sample_n(prod(shape))
        return F.reshape(drawn, (*shape, *self.batch_shape, *self.event_shape))

    def sample_n(self, n: int) -> Variable:
        """Draw `n` points, along a first axis."""
        raise self._unknown("sample_n")

    # ------------------------------------------------------------------ for subclasses

    @property
    def _like(self) -> Variable:
        """A parameter; a number of the default kind where a class of one's own names none."""
        for known in self.params.values():
            return known
        return as_variable(backend.current().asarray(0.0, config.dtype))

    def _point(self, x: Operand) -> Variable:
        """A point, integers as numbers of the parameters' dtype."""
        like, x = self._like, plain(x)
        if isinstance(x, (int, float)):
            return as_variable(like.backend.asarray(x, like.dtype, like.device))
        point = as_variable(x)
        return point if _is_floating(point) else F.cast(point, like.dtype)

    def _complete(self, x: Array) -> Array:
        """A point with all its elements: one that stood for several would be another point."""
        given, n = plain(x), len(self.event_shape)
        shape = () if isinstance(given, (int, float)) else as_variable(given).shape
        if len(shape) < n or shape[len(shape) - n :] != self.event_shape:
            raise InvalidType(
                f"x.shape[-{n}:] == {self.event_shape}, the shape of a point",
                f"x.shape == {shape}",
                operation=type(self).__name__,
            )
        return x

    def _probability(self, p: Operand) -> Variable:
        """A probability; NaN for what is none."""
        p = self._point(p)
        return where((p.array >= 0) & (p.array <= 1), p, float("nan"))

    def _uniform(self, *shape: int) -> Any:
        """Numbers in (0, 1), of a shape."""
        like = self._like
        least = float(limits(self.xp, like.dtype).eps) / 4
        random = like.backend.random
        return random.uniform(shape, like.dtype, least, 1.0, device=like.device)

    def _chances(self, *shape: int) -> Any:
        """Numbers in (0, 1) in float64, to decide counts and classes: in few bits none is rare."""
        random, device = self._like.backend.random, self._like.device
        least = float(self.xp.finfo(self.xp.float64).eps) / 4
        return random.uniform(shape, self.xp.float64, least, 1.0, device=device)

    def _normal(self, *shape: int) -> Any:
        """Numbers from the standard normal distribution, of a shape."""
        like = self._like
        return like.backend.random.normal(shape, like.dtype, device=like.device)

    def _like_this(self, value: float) -> Variable:
        """The value for each distribution of the batch."""
        like = self._like
        array = self.xp.full(self.batch_shape, value, dtype=like.dtype)
        return as_variable(like.backend.asarray(array, like.dtype, like.device))

    @property
    def _is_ours(self) -> bool:
        """Whether its parameters are those which its class is made of."""
        return type(self).__module__.startswith(f"{__package__}.")

    def _widened(self) -> Any:
        """The same distributions in float64."""
        return type(self)(**{name: F.cast(x, "float64") for name, x in self._params.items()})

    def _in_double(self, formula: Callable[[Any, Variable], Variable], x: Array) -> Variable:
        """The formula of these in float64, where probabilities do not vanish as soon."""
        x = self._point(x)
        if not self._is_ours or {x.dtype} != {p.dtype for p in self._params.values()}:
            return formula(self, x)  # which says what does not fit
        return F.cast(formula(self._widened(), F.cast(x, "float64")), x.dtype)

    def _unknown(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what} in closed form.")

    def __repr__(self) -> str:
        params = ", ".join([f"{name}: {list(x.shape)}" for name, x in self.params.items()])
        return f"{type(self).__name__}({params})"


def _of_a_number(sample_n: Callable[..., Variable]) -> Callable[..., Variable]:
    """The method, for numbers of draws alone; one's own may take more than that."""

    @wraps(sample_n)
    def checked_first(self: Any, n: int, *args: Any, **kwargs: Any) -> Variable:
        return sample_n(self, _draws(n), *args, **kwargs)

    return checked_first


def _sample_n(n: Number) -> int:
    return n


_sample_n.__name__ = "sample_n"  # as errors say
_draws = checked(_sample_n)


def floating(*arrays: Operand) -> list[Variable]:
    """Variables, those of integers in the dtype of floating ones, or `core.config.dtype`."""
    found = [as_variable(x) for x in arrays]
    dtype = next((x.dtype for x in found if _is_floating(x)), config.dtype)
    return [x if _is_floating(x) else F.cast(x, dtype) for x in found]


def plain(x: Operand) -> Any:
    """A number of NumPy's as Python's; anything else as it is."""
    return python_number(x) if is_scalar(x) else x


def _is_floating(x: Variable) -> bool:
    return x.backend.kind(x.dtype) in "fV"  # V are those of 16 bits that libraries add


def together(owner: str, **given: Shape) -> Shape:
    """The shape that several broadcast to, refused by their names where they do not."""
    try:
        return broadcast_shapes([*given.values()])
    except ValueError:
        names, shapes = " and ".join(given), " and ".join(map(str, given.values()))
        raise InvalidType(f"{names} broadcast", shapes, operation=owner) from None


def demand_distribution(owner: str, name: str, given: object) -> None:
    """Refuse what is no distribution."""
    if not isinstance(given, Distribution):
        raise TypeError(f"{owner}: expected {name} to be a distribution, got {given!r:.60}.")


def trials(owner: str, given: Operand, held: Variable) -> Variable:
    """The numbers of trials as constants, refused where their dtype does not hold those given.

    Few bits round counts, or make them infinite, and draws would be of other numbers.
    """
    n, xp = as_variable(held.array), held.xp
    of = given.array if isinstance(given, Variable) else n.backend.asarray(plain(given))
    if n.backend.outside(xp.astype(n.array != xp.astype(of, xp.float64), xp.int32), 1):
        raise ValueError(
            f"{owner}: expected n that {n.dtype} holds, the dtype of the probabilities, got others."
            " Give probabilities of more bits."
        )
    return n


def either(owner: str, **given: Operand | None) -> tuple[str, Operand]:
    """The one of two arguments that was given.

    >>> either("Bernoulli", p=0.5, logit=None)
    ('p', 0.5)
    """
    found = [(name, x) for name, x in given.items() if x is not None]
    if len(found) != 1:
        names = " or ".join(given)
        got = "both" if found else "neither"
        raise ValueError(f"{owner}: expected {names}, got {got}. Give one of the two.")
    return found[0]


def _log(p: Variable, rest: Variable) -> Variable:
    """Log p, by `rest`, which is 1 - p, where that is precise; -inf where p is 0."""
    small = p.array <= 0.5
    lower = within(p.array > 0, where(small, p, 1.0), 1.0, F.log)
    return where(small, lower, F.log1p(-where(small, 0.0, rest)))


def where(condition: Any, x: Operand, y: Operand) -> Variable:
    """`F.where`, also of a comparison of arrays without axes, which may be a scalar."""
    return F.where(condition, x, y)


def within(
    inside: Any, x: Variable, at: Array | float, formula: Callable[[Variable], Variable]
) -> Variable:
    """The formula's log-density where a point lies inside, -inf elsewhere; `at` is a point inside.

    What lies outside gets the gradient 0; NaN stays NaN.
    """
    inside = inside | (x.array != x.array)
    if not isinstance(at, float):
        at = F.cast(at, x.dtype)  # the formula says which dtypes do not fit
    return where(inside, formula(where(inside, x, at)), -float("inf"))


def log_probability(
    p: Variable, log: Callable[[Variable], Variable] = F.log, none: float = 0.0
) -> Variable:
    """Log p, or what else `log` says; -inf where p is `none`, and the gradient is 0 then.

    That of a logarithm is infinite there, and NaN where nothing comes back, as from a product by 0.
    """
    return within(p.array != none, p, 0.5, log)


def log_complement(p: Variable) -> Variable:
    """Log (1 - p), likewise."""
    return log_probability(p, lambda p: F.log1p(-p), 1.0)


def times(p: Variable, log_p: Variable, *less: Variable) -> Variable:
    """The product p log_p, or p (log_p - less), with 0 where p is 0, whatever these are there.

    An infinite log_p gives p no gradient.
    """
    p, *logs = F.broadcast(p, log_p, *less)
    first, *others = [where(p.array != 0, log, 0.0) for log in logs]
    return where(finite(first), p, p.array) * (first - others[0] if others else first)


def log_power(
    x: Variable, k: Variable, log: Callable[[Variable], Variable] = F.log, edge: float = 0.0
) -> Variable:
    """The product k log(x), with 0 where k is 0 and x at the edge, at which log(x) is -inf."""
    x, k = F.broadcast(x, k)
    return k * log(where((k.array == 0) & (x.array == edge), 0.5, x))


def in_double(formula: Callable[..., Variable], *given: Variable) -> Variable:
    """The formula, whose great terms cancel, computed in float64; in the dtype of what is given."""
    dtype = given[0].dtype
    if any([x.dtype != dtype for x in given]):
        return formula(*given)  # which says what does not fit
    return F.cast(formula(*[F.cast(x, "float64") for x in given]), dtype)


def log_beta(a: Variable, b: Variable) -> Variable:
    """Log B(a, b), of what is float64."""
    return F.lgamma(a) + F.lgamma(b) - F.lgamma(a + b)


def finite(x: Variable) -> Any:
    """Where points are not infinite."""
    return abs(x.array) != float("inf")


def dense(x: Variable, k: Variable, edge: float) -> Any:
    """Where a density that falls as the power k - 1 towards an edge is not 0: beside that."""
    x, k = F.broadcast(x, k)
    return (x.array != edge) | ~(k.array > 1)


def log1p_square(z: Variable) -> Variable:
    """Log (1 + z²), also where the square is beyond the dtype."""
    far = abs(z.array) > 1
    distant = where(far, z, 1.0)
    near = where(far, 1 / distant, z)
    return F.log1p(near * near) + 2 * F.log(F.absolute(distant))


def summed(x: Variable, axes: int) -> Variable:
    """The sum over the last axes."""
    return F.sum(x, axis=tuple(range(-axes, 0))) if axes else x
