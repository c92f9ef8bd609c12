"""check_distribution: everything that is demanded of a distribution, in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from core import functions as F
from core.arrays import random_streams
from core.arrays.backend import random_state, set_random_state
from core.graph.backprop import grad
from core.graph.variable import Variable
from core.testing.demand import demand
from core.testing.gradient_check import assert_allclose, check_backward

DRAWS = 4000
"""How many draws are compared with what is known of them."""

FARTHEST = 2.3
"""The root of n times Kolmogorov's distance; more of it has a probability of 5e-5."""

PHASES = [Phase.explicit, Phase.generate]  # a seed is no smaller case than another

DEVIATIONS = 5.0
"""How many standard errors a mean of draws may be off."""


def check_distribution(
    distribution: Callable[..., Any],
    reference: Callable[..., Any] | None = None,
    *,
    params: Mapping[str, Any],
    points: Callable[..., Any] | None = None,
    discrete: bool = False,
    reparametrized: bool = False,
    examples: int | None = None,
) -> None:
    """Prove a distribution against a reference; AssertionError where it differs.

    Hypothesis draws parameters. Densities, moments, entropy, and whatever the distribution gives of
    `cdf`, `log_cdf`, `survival_function`, `log_survival_function` and `icdf` are compared with the
    reference; gradients of densities with differences; draws with `cdf` by Kolmogorov's test, or
    with the mean and variance; gradients of draws with the score function. Draws of two
    distributions of a batch do not depend on each other, and come again from one state. All in
    float64; in float32 and float16 dtypes and shapes are looked at. Draws come from seeds, so that
    a proof that holds once always holds.

    Args:
        distribution: Takes the parameters by name, as arrays.
        reference: Takes them likewise, as arrays without axes, and returns a frozen distribution of
            `scipy.stats`, or an object with such methods; by default only that is proven which
            needs none.
        params: Name -> `core.real(low, high)`, or a function from a NumPy generator to an array
            for one distribution.
        points: Takes such a generator, and the reference of one distribution or None; returns a
            point. By default the reference draws it.
        discrete: Whether points are integers, so that the reference has `pmf` in the place of
            `pdf`.
        reparametrized: Whether gradients of draws reach all parameters.
        examples: How many cases to draw; by default as many as Hypothesis's profile says.

    >>> import core, core.distributions as D, scipy.stats
    >>> check_distribution(D.Normal, scipy.stats.norm, examples=1, reparametrized=True,
    ...                    params={"loc": core.real(-2, 2), "scale": core.real(0.5, 2)})
    """
    budget = examples or settings().max_examples

    @settings(max_examples=budget, derandomize=True, database=None, deadline=None, phases=PHASES)
    @given(st.integers(0, 1 << 30), st.sampled_from([(), (3,), (2, 1)]))
    def holds(seed: int, batch: tuple[int, ...]) -> None:
        rng = np.random.default_rng(seed)
        case = _Case(distribution, reference, dict(params), points, discrete, rng, batch)
        case.check_shapes()
        case.check_density()
        if reference is not None:
            case.check_moments()
            case.check_cumulative()

    holds()
    rng = np.random.default_rng(1)
    case = _Case(distribution, reference, dict(params), points, discrete, rng, (2,))
    with _seeded(1):
        case.check_draws()
        if reparametrized:
            case.check_gradients_of_draws()


class _seeded:
    """The shared stream of random numbers from a seed on, and then as it was."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __enter__(self) -> None:
        stream = random_streams.stream()
        self._before = None if stream is None else stream.get_state()
        random_streams.seed(self._seed)

    def __exit__(self, *_: object) -> None:
        random_streams.set_stream_state(self._before)


class _Case:
    """A batch of distributions, and the reference of each."""

    def __init__(
        self,
        make: Callable[..., Any],
        reference: Callable[..., Any] | None,
        params: dict[str, Any],
        points: Callable[..., Any] | None,
        discrete: bool,
        rng: np.random.Generator,
        batch: tuple[int, ...],
    ) -> None:
        self.make, self.discrete, self.rng, self.batch = make, discrete, rng, batch
        self.arrays = {name: self._drawn(where) for name, where in params.items()}
        self.distribution = make(**self.arrays)
        self.indices = list(np.ndindex(*batch))
        self.references: list[Any] = [
            reference(**{name: array[i] for name, array in self.arrays.items()})
            for i in self.indices
            if reference is not None
        ]
        pick = points or (lambda rng, frozen: frozen.rvs(random_state=rng))
        picked = [pick(rng, r) for r in self.references or [None] * len(self.indices)]
        shape = np.shape(picked[0])
        self.points = np.asarray(picked, "i8" if discrete else "d").reshape((*batch, *shape))
        self.floats = self.points.astype("d")

    def _drawn(self, where: Any) -> Any:
        if callable(where):
            one = [np.asarray(where(self.rng), "d") for _ in range(int(np.prod(self.batch)))]
            return np.stack(one).reshape((*self.batch, *one[0].shape))
        return np.asarray(self.rng.uniform(where.lo, where.hi, self.batch))

    def _each(self, value: Callable[[Any, Any], Any]) -> Any:
        found = [
            value(frozen, self.points[i])
            for frozen, i in zip(self.references, self.indices, strict=True)
        ]
        return np.stack([np.asarray(x, "d") for x in found]).reshape(
            (*self.batch, *np.shape(found[0]))
        )

    # ------------------------------------------------------------------ checks

    def check_shapes(self) -> None:
        d, event = self.distribution, self.points.shape[len(self.batch) :]
        _same(d.batch_shape, self.batch, "batch_shape")
        _same(d.event_shape, event, "event_shape")
        demand(set(self.arrays) <= {*d.params}, f"params are but {', '.join(d.params)}")
        for dtype in ("float16", "float32", "float64"):
            d = self.make(**{name: x.astype(dtype) for name, x in self.arrays.items()})
            if dtype != "float16":  # products of matrices and gamma draws want more digits
                for many in ((4, 2), ()):
                    _same(d.sample(many).shape, (*many, *self.batch, *event), "shape of draws")
            x = self.points if self.discrete else self.points.astype(dtype)
            found = d.log_prob(x)
            _same((found.shape, found.dtype.name), (self.batch, dtype), "log_prob")

    def check_density(self) -> None:
        d, x = self.distribution, self.points
        if self.references:
            name = "pmf" if self.discrete else "pdf"
            _close(d.prob(x), self._each(lambda r, x: getattr(r, name)(x)), "prob")
            log = self._each(lambda r, x: getattr(r, f"log{name}")(x))
            _close(d.log_prob(x), log, "log_prob")
        if self.batch:
            self.check_gradients_of_density()

    def check_gradients_of_density(self) -> None:
        """Against differences."""
        names = list(self.arrays)
        beside = [] if self.discrete else [self.points]

        def density(*given: Any) -> Any:
            at = given[len(names)] if beside else self.points
            return self.make(**dict(zip(names, given, strict=False))).log_prob(at)

        weights = np.asarray(self.rng.normal(size=self.batch))
        arrays = (*self.arrays.values(), *beside)
        check_backward(density, arrays, weights, eps=1e-5, atol=1e-4, rtol=1e-4, dtype="d")

    def check_moments(self) -> None:
        for name, of in [
            ("mean", lambda r: r.mean() if callable(r.mean) else r.mean),
            ("variance", lambda r: r.var()),
            ("stddev", lambda r: np.sqrt(r.var())),
            ("entropy", lambda r: r.entropy()),
            ("covariance", lambda r: r.cov() if callable(r.cov) else r.cov),
        ]:
            found = _given(self.distribution, name)
            if found is not None:
                _close(found, self._each(_first(of)), name)

    def check_cumulative(self) -> None:
        for name, of in [
            ("cdf", "cdf"),
            ("log_cdf", "logcdf"),
            ("survival_function", "sf"),
            ("log_survival_function", "logsf"),
        ]:
            found = _given(self.distribution, name, self.points)
            if found is not None:
                _close(found, self._each(_method(of)), name)
        p = np.asarray(self.rng.uniform(0.01, 0.99, self.batch))
        found = _given(self.distribution, "icdf", p)
        if found is not None:
            ppf = [r.ppf(p[i]) for r, i in zip(self.references, self.indices, strict=True)]
            _close(found, np.reshape(ppf, self.batch), "icdf")

    def check_draws(self) -> None:
        state = random_state()
        drawn = np.asarray(self.distribution.sample(DRAWS).array, "d")
        set_random_state(state)
        again = np.asarray(self.distribution.sample(DRAWS).array, "d")
        demand(np.array_equal(drawn, again), "draws do not follow from core.seed alone")
        one, other = np.moveaxis(drawn.reshape(DRAWS, 2, -1)[..., 0], 1, 0)
        off = abs(_correlation(one, other)) * np.sqrt(DRAWS)
        demand(off < DEVIATIONS, f"draws of two distributions of a batch depend: {off:.1f} errors")
        scalar = drawn.ndim == 1 + len(self.batch)
        if not scalar or not self.references:
            for name, values in [("mean", drawn), ("variance", (drawn - drawn.mean(0)) ** 2)]:
                known = _given(self.distribution, name)
                if known is not None:
                    error = values.std(0) / np.sqrt(DRAWS) + 1e-12
                    off = np.abs(values.mean(0) - known.array) / error
                    demand(off.max() < DEVIATIONS, f"{name} of draws is {off.max():.1f} errors off")
            return
        for frozen, i in zip(self.references, self.indices, strict=True):
            values = np.sort(drawn[(slice(None), *i)])
            apart = _distance(values, frozen.cdf, self.discrete) * np.sqrt(DRAWS)
            demand(apart < FARTHEST, f"draws are not from the distribution: {apart:.2f}")

    def check_gradients_of_draws(self) -> None:
        """Where there is a cdf, dx/dθ is -dF(x)/dθ over the density.

        Else E[dh(x)/dθ] is E[h(x) d log p(x)/dθ], here of h(x) = tanh(x) less its mean.
        """
        many = {
            name: Variable(np.broadcast_to(x, (DRAWS, *x.shape)).copy())
            for name, x in self.arrays.items()
        }
        drawn = self.make(**many).sample()
        distribution, x = self.make(**many), drawn.array
        cumulative = _given(distribution, "cdf", x)
        if cumulative is None:
            h = F.tanh(drawn)
            axes = tuple(range(1 + len(self.batch), h.ndim))
            h = F.sum(h, axis=axes) if axes else h
            by, weights = distribution.log_prob(x), h.array - h.array.mean(0)
        else:
            h, by, weights = drawn, cumulative, -1 / distribution.prob(x).array
        pathwise = grad([F.sum(h)], list(many.values()))
        slopes = grad([F.sum(by)], list(many.values()))
        for name, path, slope in zip(self.arrays, pathwise, slopes, strict=True):
            if path is None or slope is None:
                raise AssertionError(f"draws give no gradient of {name}")
            shape = weights.shape + (1,) * (slope.ndim - weights.ndim)
            expected = slope.array * weights.reshape(shape)
            if cumulative is not None:
                _close(path, expected, f"the gradient of draws in {name}")
                continue
            apart = path.array - expected
            off = np.abs(apart.mean(0)) / (apart.std(0) / np.sqrt(DRAWS) + 1e-12)
            demand(off.max() < DEVIATIONS, f"gradient of {name} is {off.max():.1f} errors off")


def _first(of: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda reference, x: of(reference)


def _method(name: str) -> Callable[[Any, Any], Any]:
    return lambda reference, x: getattr(reference, name)(x)


def _given(distribution: Any, name: str, *args: Any) -> Any:
    """What the distribution has under a name; None where it says that it has none."""
    try:
        found = getattr(distribution, name)
        return found(*args) if args else found
    except NotImplementedError:
        return None


def _same(found: object, expected: object, what: str) -> None:
    demand(found == expected, f"{what}: expected {expected}, got {found}")


def _close(found: Any, expected: Any, name: str) -> None:
    _same(found.shape, expected.shape, f"shape of {name}")
    try:
        assert_allclose(found.array, expected, atol=1e-7, rtol=1e-6)
    except AssertionError as error:
        error.add_note(f"of {name}")
        raise


def _correlation(one: Any, other: Any) -> float:
    """The rank correlation, where equal values share a rank; 0 where there is but one value."""
    ranks = []
    for values in (one, other):
        _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        rank = (np.cumsum(counts) - counts / 2)[places] - len(values) / 2
        ranks.append(rank / (np.sqrt((rank**2).mean()) or 1.0))
    return float((ranks[0] * ranks[1]).mean())


def _distance(ordered: Any, cdf: Callable[[Any], Any], discrete: bool) -> float:
    """How far the cumulative frequencies of draws are from the probabilities."""
    n = len(ordered)
    if discrete:
        values, counts = np.unique(ordered, return_counts=True)
        return float(np.abs(np.cumsum(counts) / n - cdf(values)).max())
    known = cdf(ordered)
    steps = np.arange(n + 1) / n
    return float(max((known - steps[:-1]).max(), (steps[1:] - known).max()))
