"""The test case that proves a distribution against one of scipy.stats, as version 7 has it."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

import core
from core.testing import assert_allclose

_TARGETS = {
    "batch_shape",
    "cdf",
    "entropy",
    "event_shape",
    "icdf",
    "log_cdf",
    "log_prob",
    "log_survival",
    "mean",
    "prob",
    "sample",
    "stddev",
    "support",
    "survival",
    "variance",
}
_DRAWS = 100_000


class distribution_unittest(unittest.TestCase):
    """Proves a distribution: a subclass says in `setUp_configure` what it is compared with.

    It sets `dist` and `scipy_dist`, their parameters in `params` and `scipy_params`, what is tested
    in `test_targets`, and, where the defaults are not right, `options`, `continuous`, `support` and
    `event_shape`; and it writes `sample_for_test()`, which gives points. `shape`, `sample_shape`
    and `is_variable` come from `parameterize`. With `scipy_onebyone` the reference is asked for
    each distribution of the batch.
    """

    scipy_onebyone = False
    event_shape: tuple[int, ...] = ()
    is_variable = False
    shape: tuple[int, ...] = ()
    sample_shape: tuple[int, ...] = ()
    dist: Any
    scipy_dist: Any
    params: dict[str, Any]
    scipy_params: dict[str, Any]

    def setUp(self) -> None:
        """Ask the subclass, and make Variables of the parameters if they are to be some."""
        super().setUp()
        self.support, self.continuous = "real", True
        self.test_targets: set[str] = set()
        self.options: dict[str, Any] = {}
        self.setUp_configure()
        unknown = sorted(set(self.test_targets) - _TARGETS)
        if unknown:
            raise ValueError(f"invalid target(s): {', '.join(unknown)}")
        if self.is_variable:
            self.params = {name: core.Variable(x) for name, x in self.params.items()}

    def setUp_configure(self) -> None:
        """Say what is compared with what."""
        raise unittest.SkipTest("a subclass writes setUp_configure")

    def sample_for_test(self) -> Any:
        """Points, of the shape (*sample_shape, *shape, *event_shape)."""
        raise NotImplementedError(f"{type(self).__name__}: write sample_for_test().")

    @property
    def cpu_dist(self) -> Any:
        """The distribution."""
        return self.dist(**self.params, **self.options)

    def scipy_onebyone_params_iter(self) -> Iterator[dict[str, Any]]:
        """The parameters of each distribution of the batch."""
        for index in np.ndindex(*self.shape):
            yield {name: values[index] for name, values in self.scipy_params.items()}

    # -- what is compared -------------------------------------------------------------------------

    def _needs(self, target: str) -> None:
        if target not in self.test_targets:
            self.skipTest(f"{target!r} is not in test_targets")

    def _each(self, ask: Callable[..., Any], shape: tuple[int, ...]) -> Any:
        """What the reference says of the batch, in whole or one by one."""
        if not self.scipy_onebyone:
            return ask(**self.scipy_params)
        found = [ask(**params) for params in self.scipy_onebyone_params_iter()]
        return np.stack([np.asarray(x) for x in found]).reshape(self.shape + shape)

    def _of_points(self, found: Callable[[Any], Any], ask: Callable[..., Any]) -> None:
        points = self.sample_for_test()
        if not self.scipy_onebyone:
            expected = ask(points, **self.scipy_params)
        else:
            sizes = [prod(s) for s in (self.sample_shape, self.shape)]
            rows = points.reshape(*sizes, *self.event_shape).swapaxes(0, 1)
            pairs = zip(rows, self.scipy_onebyone_params_iter(), strict=True)
            asked = [np.asarray(ask(row, **p)).reshape(sizes[0]) for row, p in pairs]
            expected = np.stack(asked, axis=1).reshape(self.sample_shape + self.shape)
        assert_allclose(core.as_array(found(points)), expected)

    def test_batch_shape_cpu(self) -> None:
        """The shape of the batch."""
        self._needs("batch_shape")
        self.assertEqual(self.cpu_dist.batch_shape, self.shape)

    def test_event_shape_cpu(self) -> None:
        """The shape of a point."""
        self._needs("event_shape")
        self.assertEqual(self.cpu_dist.event_shape, self.event_shape)

    def test_support_cpu(self) -> None:
        """Where points lie."""
        self._needs("support")
        self.assertEqual(self.cpu_dist.support, self.support)

    def test_cdf_cpu(self) -> None:
        """Cumulative probabilities."""
        self._needs("cdf")
        self._of_points(self.cpu_dist.cdf, self.scipy_dist.cdf)

    def test_log_cdf_cpu(self) -> None:
        """Their logarithms."""
        self._needs("log_cdf")
        self._of_points(self.cpu_dist.log_cdf, self.scipy_dist.logcdf)

    def test_survival_cpu(self) -> None:
        """What is above points."""
        self._needs("survival")
        self._of_points(self.cpu_dist.survival_function, self.scipy_dist.sf)

    def test_log_survival_cpu(self) -> None:
        """Its logarithms."""
        self._needs("log_survival")
        self._of_points(self.cpu_dist.log_survival_function, self.scipy_dist.logsf)

    def test_prob_cpu(self) -> None:
        """Densities or probabilities."""
        self._needs("prob")
        reference = self.scipy_dist.pdf if self.continuous else self.scipy_dist.pmf
        self._of_points(self.cpu_dist.prob, reference)

    def test_log_prob_cpu(self) -> None:
        """Their logarithms."""
        self._needs("log_prob")
        reference = self.scipy_dist.logpdf if self.continuous else self.scipy_dist.logpmf
        self._of_points(self.cpu_dist.log_prob, reference)

    def test_icdf_cpu(self) -> None:
        """Points of cumulative probabilities."""
        self._needs("icdf")
        p = np.random.uniform(1e-3, 1 - 1e-3, self.sample_shape + self.shape).astype(np.float32)
        found = core.as_array(self.cpu_dist.icdf(p))
        assert_allclose(found, self.scipy_dist.ppf(p, **self.scipy_params), atol=1e-4, rtol=1e-3)

    def test_entropy_cpu(self) -> None:
        """Entropies."""
        self._needs("entropy")
        assert_allclose(self.cpu_dist.entropy, self._each(self.scipy_dist.entropy, ()))

    def test_mean_cpu(self) -> None:
        """Means."""
        self._needs("mean")
        assert_allclose(self.cpu_dist.mean, self._each(self.scipy_dist.mean, self.event_shape))

    def test_variance_cpu(self) -> None:
        """Variances."""
        self._needs("variance")
        assert_allclose(self.cpu_dist.variance, self._each(self.scipy_dist.var, self.event_shape))

    def test_stddev_cpu(self) -> None:
        """Standard deviations."""
        self._needs("stddev")
        assert_allclose(self.cpu_dist.stddev, self._each(self.scipy_dist.std, self.event_shape))

    def test_sample_cpu(self) -> None:
        """Means and deviations of many draws."""
        self._needs("sample")
        drawn = core.as_array(self.cpu_dist.sample((_DRAWS, *self.sample_shape)))
        size = (_DRAWS, *self.sample_shape)
        if self.scipy_onebyone:
            each = [
                self.scipy_dist.rvs(size=size, **params).reshape(*size, *self.event_shape)
                for params in self.scipy_onebyone_params_iter()
            ]
            expected = np.stack(each, axis=len(size)).reshape(size + self.shape + self.event_shape)
        else:
            expected = self.scipy_dist.rvs(size=size + self.shape, **self.scipy_params)
        near: dict[str, Any] = {"atol": 3e-2, "rtol": 3e-2}
        assert_allclose(drawn.mean(axis=0), expected.mean(axis=0), **near)
        assert_allclose(drawn.std(axis=0), expected.std(axis=0), **near)
