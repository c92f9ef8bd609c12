"""Sums over all axes but that of channels: those of NumPy, in one order for any threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import core
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.math import channels
from backends.numpy_backend.namespace import namespace

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small arrays, small parts and blocks."""
    monkeypatch.setattr(channels, "LEAST", 1)
    monkeypatch.setattr(channels, "PART", 30)


def summed(x: Any, count: int) -> Any:
    with core.using_threads(count):
        return namespace.sum(x, axis=(0, *range(2, x.ndim)))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    shape=st.lists(st.integers(0, 6), min_size=2, max_size=5).map(tuple)
    | st.sampled_from([(2, 3, 5000), (1, 40, 9, 9)]),
    dtype=st.sampled_from(["float32", "float64", "float16", "int32"]),
    turned=st.booleans(),
    seed=st.integers(0, 99),
)
def test_they_are_the_sums(shape: Any, dtype: str, turned: bool, seed: int) -> None:
    x = np.random.default_rng(seed).integers(-40, 40, shape).astype(dtype)
    x = x.T if turned else x
    found = [summed(x, count) for count in (1, 2, 3)]
    for each in found:
        np.testing.assert_array_equal(each, x.sum(axis=(0, *range(2, x.ndim))), strict=True)


def test_they_are_exact_to_a_few_bits_and_the_same_for_any_threads() -> None:
    x = np.random.default_rng(0).standard_normal((20, 7, 90, 90), "f")
    found = [summed(x, count) for count in (1, 2, 3)]
    assert len({each.tobytes() for each in found}) == 1
    exact = x.sum(axis=(0, 2, 3), dtype="d")
    np.testing.assert_allclose(found[0], exact, atol=2e-7 * np.abs(x).sum() / 7)
    assert not np.array_equal(found[0], np.sum(x, axis=(0, 2, 3)))  # which takes another order


@pytest.mark.parametrize("special", [np.inf, np.nan])
def test_what_is_not_finite_stays_so(special: float) -> None:
    x = np.ones((3, 4, 50), "f")
    x[1, 2, 30] = special
    np.testing.assert_array_equal(summed(x, 1), [150, 150, special, 150])


def test_other_sums_are_numpy_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(channels), "_sum_of_channels", None)
    x = np.ones((3, 4, 5), "f")
    for options in ({}, {"axis": 1}, {"axis": (0, 1)}, {"axis": (0, 2), "keepdims": True}):
        np.testing.assert_array_equal(namespace.sum(x, **options), np.sum(x, **options))
    for positional in ((x, 1), (x, 1, "float64"), (x.tolist(), (0, 2)), (np.float32(3), ())):
        np.testing.assert_array_equal(namespace.sum(*positional), np.sum(*positional))
    np.testing.assert_array_equal(namespace.sum(a=x, axis=1), np.sum(x, axis=1))
    monkeypatch.setattr(channels, "LEAST", x.size + 1)
    assert list(summed(x, 1)) == [15.0] * 4
