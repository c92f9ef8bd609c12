"""The sum of squares in a compiled loop: that of the formula, in one order for any threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compiled_kernels import call_small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import core
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.optimizers import norms
from core import optimizer_hooks, optimizers
from core.registry import configuration
from plugins.optimizers.hooks.norms import SquaredNorm, inner, squared_norm, squared_norms

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small arrays, small parts."""
    call_small(monkeypatch, 0)
    monkeypatch.setattr(norms, "PART", 5000)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.sampled_from([(), (0,), (1,), (3, 5), (70, 70), (4, 3000), (20001,)]),
    dtype=st.sampled_from(["float32", "float64"]),
    turned=st.booleans(),
    seed=st.integers(0, 99),
)
def test_it_is_the_sum_of_squares(shape: Any, dtype: str, turned: bool, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    x = x.T if turned else x
    found = squared_norm(x)
    assert isinstance(found, np.ndarray) and found.shape == () and found.dtype == dtype
    assert norms.squared_norm(SquaredNorm(), np, x) == found
    exact = (x.astype("float64") ** 2).sum()
    np.testing.assert_allclose(found, exact, rtol=30 * np.finfo(dtype).eps)


SHAPES = [(), (0,), (1,), (3, 5), (70, 70), (2047,), (2048,)]


@given(
    shapes=st.lists(st.sampled_from(SHAPES), max_size=6),
    dtypes=st.lists(st.sampled_from(["float16", "float32", "float64"]), min_size=6, max_size=6),
    turned=st.booleans(),
    seed=st.integers(0, 99),
)
def test_those_of_several_are_those_of_each(
    shapes: Any, dtypes: list[str], turned: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(s).astype(d) for s, d in zip(shapes, dtypes, strict=False)]
    arrays = [x.T if turned else x for x in arrays]
    found = squared_norms(arrays)
    assert len(found) == len(arrays)
    for x, sum_of_squares in zip(arrays, found, strict=True):
        eps = np.finfo(np.result_type(x, "f")).eps
        exact = (x.astype("float64") ** 2).sum()
        np.testing.assert_allclose(sum_of_squares, exact, rtol=100 * eps)
        (alone,) = squared_norms([x])
        assert float(alone) == float(sum_of_squares)  # the same whoever else is there


def test_its_bits_are_those_of_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).standard_normal(30011).astype("f")
    found = set()
    for count in (1, 2, 3):
        monkeypatch.setitem(configuration._shared, "num_threads", count)
        found.add(float(squared_norm(x)))
    assert len(found) == 1


@pytest.mark.parametrize("special", [np.inf, np.nan, 1e30])
def test_what_is_not_finite_stays_so(special: float) -> None:
    x = np.ones(9000, "f")
    x[7000] = special
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(squared_norm(x), inner(x, x))


def test_gradients_of_other_dtypes_are_left_to_the_formula() -> None:
    half = np.full(4000, 300.0, "e")
    assert norms.squared_norm(SquaredNorm(), np, half) is NotImplemented
    assert squared_norm(half) == np.float32(4000 * 300.0**2)


def test_clipping_scales_large_gradients() -> None:
    model = core.Link()
    with model.init_scope():
        model.a, model.b = (core.Parameter(np.zeros((90, n), "f")) for n in (80, 3))
    optimizer = optimizers.SGD(lr=1.0).setup(model)
    optimizer.add_hook(optimizer_hooks.GradientClipping(2.0))
    rng = np.random.default_rng(1)
    gradients = [rng.standard_normal(p.shape).astype("f") for p in model.params()]
    for param, grad in zip(model.params(), gradients, strict=True):
        param.grad = grad.copy()
    optimizer.update()
    norm = np.sqrt(sum((g.astype("d") ** 2).sum() for g in gradients))
    for param, grad in zip(model.params(), gradients, strict=True):
        np.testing.assert_allclose(param.array, -grad * 2 / norm, rtol=1e-5)
