"""Attention in blocks of queries: values and gradients of the formula, in little memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled_kernels import call_small
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.attention import attention
from core.registry import configuration
from plugins.functions.attention.attention import Attention

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

NUMPY = core.backend.get("numpy")
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few elements, in three threads."""
    call_small(monkeypatch, 0)
    monkeypatch.setattr(attention, "LEAST", 100)
    monkeypatch.setitem(configuration._shared, "num_threads", 3)


def drawn(r: Any, layout: str, dtype: str, *shape: int) -> Array:
    x = r.standard_normal(shape).astype(dtype)
    if layout == "heads last":  # as reshaping (n, l, heads * e) and exchanging axes gives them
        x = np.moveaxis(np.moveaxis(x, -2, 0).copy(), 0, -2)
    elif layout == "among others":  # as splitting one product into all three gives them
        x = np.concatenate((x, x, x), axis=-1)[..., shape[-1] : 2 * shape[-1]]
    elif layout == "columns apart":
        x = np.repeat(x, 2, axis=-1)[..., ::2]
    elif layout == "reversed":
        x = x[..., ::-1, :]
    x.flags.writeable = False
    return x


def run(f: Attention, inputs: list[Array], g: Array) -> list[Array]:
    variables = [core.Variable(x) for x in inputs]
    y = f(*variables)
    gradients = core.grad([y], variables, [core.Variable(g)])
    return [a.array for a in (y, *gradients)]


def compare(sizes: tuple[int, ...], causal: bool, layout: str, dtype: str, *lead: int) -> None:
    (n, m, e, d), r = sizes, np.random.default_rng(0)
    inputs = [drawn(r, layout, dtype, *lead, *s) for s in ((n, e), (m, e), (m, d))]
    g = drawn(r, layout, dtype, *lead, n, d)
    settings = (1 / np.sqrt(e), causal)
    got, again = (run(Attention(*settings), inputs, g) for _ in range(2))
    tables = (NUMPY.kernels, NUMPY.gradient_kernels)
    kernels = [table.pop(Attention) for table in tables]
    try:
        expected = run(Attention(*settings), inputs, g)
    finally:
        for table, kernel in zip(tables, kernels, strict=True):
            table[Attention] = kernel
    for a, b, repeated in zip(got, expected, again, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        near = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(a, b, rtol=0, atol=near * np.abs(b).max(initial=1))
        np.testing.assert_array_equal(a, repeated)


LAYOUTS = ["contiguous", "heads last", "among others", "columns apart", "reversed"]
QUERIES = st.integers(1, 4) | st.integers(1, 60)
SIZES = st.tuples(QUERIES, st.integers(1, 60), st.integers(1, 80), st.integers(1, 80))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    SIZES,
    st.booleans(),
    st.sampled_from(LAYOUTS),
    st.sampled_from(["float32", "float64"]),
    st.sampled_from([(), (5,), (2, 3)]),
)
@example((64, 64, 32, 32), True, "heads last", "float32", (2, 3))
@example((3, 90, 20, 5), True, "contiguous", "float32", (2,))
@example((1, 90, 20, 75), False, "among others", "float32", (2, 3))
def test_values_and_gradients_are_those_of_the_formula(
    sizes: tuple[int, ...], causal: bool, layout: str, dtype: str, lead: tuple[int, ...]
) -> None:
    compare(sizes, causal, layout, dtype, *lead)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9)), min_size=1, max_size=3),
    st.integers(1, 4),
)
@example([(3, 3), (2, 4)], 2)  # as many elements as there is memory, of which some come twice
def test_matrices_are_found_in_memory(axes: list[tuple[int, int]], columns: int) -> None:
    shape, steps = [*[n for n, _ in axes], columns], [*[step for _, step in axes], 1]
    x = np.lib.stride_tricks.as_strided(np.arange(99.0), shape, [8 * step for step in steps])
    memory, starts, row = attention._lying(x)
    found = [
        [memory[start + r * row + c] for c in range(columns)]
        for start in starts
        for r in range(shape[-2])
    ]
    np.testing.assert_array_equal(np.reshape(found, shape), x)


def test_huge_scores_do_no_harm() -> None:
    q = np.full((1, 40, 8), 1e3, "f")
    y = Attention(10.0, True).evaluate(q, q, q)
    np.testing.assert_allclose(y, q, rtol=1e-5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(exponent=st.integers(9, 30), dtype=st.sampled_from(["float32", "float64"]))
@example(30, "float32")
@example(30, "float64")
def test_what_rounding_takes_from_a_huge_score_is_no_weight(exponent: int, dtype: str) -> None:
    r = np.random.default_rng(0)
    q, k, v = (r.standard_normal((2, 50, 20)).astype(dtype) for _ in range(3))
    g = np.ones_like(v)
    y, _, _, gv = run(Attention(0.3, False), [q * q.dtype.type(10.0**exponent), k, v], g)
    first = np.argmax(q.astype("float64") @ np.swapaxes(k, 1, 2), axis=2)
    np.testing.assert_allclose(y, np.take_along_axis(v, first[:, :, None], axis=1), rtol=1e-6)
    np.testing.assert_allclose(gv.sum(axis=1), 50, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_stays_with_the_queries_that_see_it(dtype: str) -> None:
    r = np.random.default_rng(0)
    q, k, v, g = (r.standard_normal((2, 50, 20)).astype(dtype) for _ in range(4))
    q[0, 7], k[1, 30] = np.nan, np.nan
    y = run(Attention(0.2, True), [q, k, v], g)[0]
    lost = np.zeros((2, 50), bool)
    lost[0, 7], lost[1, 30:] = True, True
    np.testing.assert_array_equal(np.isnan(y).all(axis=2), lost)
    np.testing.assert_array_equal(np.isnan(y).any(axis=2), lost)


def test_what_broadcasts_is_left_to_the_formula() -> None:
    q, k = np.ones((3, 4, 5), "f"), np.ones((6, 5), "f")
    assert attention.attention(Attention(), np, q, k, k) is NotImplemented


def test_no_matrix_of_all_weights_is_there() -> None:
    x = [core.Variable(np.ones((2, 3000, 16), "f")) for _ in range(3)]
    F.scaled_dot_product_attention(*[v[:, :60] for v in x]).sum().backward()  # compiles
    tracemalloc.start()
    try:
        F.sum(F.scaled_dot_product_attention(*x)).backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3000 * 3000 * 4


HERE = [str(folder) for folder in Path(__file__).parents[:2]]
MACHINE = """
import sys
sys.path[:0] = {here!r}
import test_compiled_attention as tests
from backends.numpy_backend.kernels import compiler, emitter
from numba.core.registry import cpu_target
assert emitter.registers(cpu_target.target_context.codegen().magic_tuple()[2]) == {expected}
compiler.SMALL = 0
for queries in (2, 50):
    tests.compare((queries, 47, 13, 21), True, "heads last", "float32", 2)
"""


@pytest.mark.parametrize(
    ("features", "expected"), [("", (128, 16)), ("+avx,+avx2,+fma", (256, 16))]
)
def test_tiles_follow_the_registers(features: str, expected: tuple[int, int]) -> None:
    from llvmlite.binding import get_host_cpu_features

    if not all(get_host_cpu_features().get(name[1:]) for name in features.split(",") if name):
        pytest.skip(f"needs {features}")
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": features}
    done = subprocess.run(
        [sys.executable, "-c", MACHINE.format(here=HERE, expected=expected)],
        env=os.environ | generic,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert not done.returncode, done.stderr
