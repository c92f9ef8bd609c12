"""Gradients that wait for others to be added to them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend.deferred import Deferred
from backends.numpy_backend.kernels.plain import weights
from plugins.functions.connection.embed_id import EmbedIDFunction
from plugins.functions.connection.linear import LinearFunction
from plugins.functions.math.product import MatMul

NUMPY = core.backend.get("numpy")
ROWS, COLUMNS = 90, 70  # of weights
OPERATIONS = LinearFunction, MatMul, EmbedIDFunction


@pytest.fixture(autouse=True, scope="module")
def small() -> Any:
    """However little comes, it waits."""
    with pytest.MonkeyPatch.context() as patch:
        for op in OPERATIONS:
            patch.setattr(NUMPY.gradient_kernels[op], "least", 0)
            op.specialize()
        yield
    for op in OPERATIONS:
        op.specialize()


def data(steps: int, rows: int, dtype: str) -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    W, table = (core.Parameter(r.standard_normal((ROWS, COLUMNS)).astype(dtype)) for _ in range(2))
    b = core.Parameter(np.zeros(ROWS, dtype))
    words = r.integers(-1, ROWS, (steps, rows))
    return W, b, table, words


def loss(W: Any, b: Any, table: Any, words: Any) -> Any:
    """Each step looks rows up, and has products with the weight, with and without a bias."""
    total = 0
    for now in words:
        h = F.linear(F.embed_id(now, table, ignore_label=-1), W, b)
        total += F.sum(F.tanh(h) * F.linear(F.embed_id(now, table, ignore_label=-1), W))
        total += F.sum(F.sin(F.matmul(h, W)))
    return total


def gradients(*inputs: Any) -> list[Any]:
    for p in inputs[:3]:
        p.cleargrad()
    loss(*inputs).backward()
    return [p.grad for p in inputs[:3]]


def by_formula(*inputs: Any) -> list[Any]:
    table = NUMPY.gradient_kernels
    kept = [table.pop(op) for op in OPERATIONS]
    try:
        return gradients(*inputs)
    finally:
        for op, kernel in zip(OPERATIONS, kept, strict=True):
            table[op] = kernel


@given(st.integers(1, 40), st.integers(1, 12), st.sampled_from(["float32", "float64"]))
def test_the_sum_is_that_of_the_formula(steps: int, rows: int, dtype: str) -> None:
    inputs = data(steps, rows, dtype)
    got, again = gradients(*inputs), gradients(*inputs)
    for a, b, e in zip(got, again, by_formula(*inputs), strict=True):
        assert type(a) is np.ndarray and a.dtype == e.dtype
        near = 1e-4 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(a, e, atol=near * np.abs(e).max(), rtol=near)
        np.testing.assert_array_equal(a, b)


def test_gradients_are_arrays_wherever_they_are_asked_for() -> None:
    inputs = data(5, 2, "float32")
    expected = gradients(*inputs)
    found = core.grad([loss(*inputs)], inputs[:3])
    loss(*inputs).backward()  # added to those of before
    for p, g, e in zip(inputs[:3], found, expected, strict=True):
        assert type(g.array) is np.ndarray and type(p.grad) is np.ndarray
        np.testing.assert_allclose(g.array, e, rtol=1e-6)
        np.testing.assert_allclose(p.grad, e + e, rtol=1e-6)


@given(st.permutations([loss] * 2 + [lambda W, *_: F.sum(W * W)] * 2))
def test_weights_have_other_uses_before_and_after(terms: list[Any]) -> None:
    inputs = data(1, 2, "float32")
    W = inputs[0]
    expected = 2 * gradients(*inputs)[0] + 4 * W.array
    W.cleargrad()
    sum([term(*inputs) for term in terms]).backward()
    np.testing.assert_allclose(W.grad, expected, rtol=1e-5, atol=1e-4)


def test_of_what_is_computed_none_waits() -> None:
    W, b, table, words = data(3, 2, "float32")
    expected = gradients(W, b, table, words)[0]
    W.cleargrad()
    loss(W * 1.0, b, table, words).backward()
    np.testing.assert_allclose(W.grad, expected, rtol=1e-5, atol=1e-5)


def test_hooks_and_debug_see_arrays() -> None:
    inputs, seen = data(2, 2, "float32"), []

    class Hook(core.FunctionHook):
        def backward_postprocess(self, function: Any, in_data: Any, out_grad: Any) -> None:
            seen.extend(out_grad)

    with Hook(), core.using_config("debug", True):
        gradients(*inputs)
    assert seen and all(type(g) is np.ndarray for g in seen)


def test_factors_never_take_more_memory_than_the_gradient() -> None:
    def made(*factors: Any) -> Any:
        return factors[0].T @ factors[1]

    total = Deferred((made, (), 8), [(np.ones((3, 4)), np.ones((3, 5)))])
    for _ in range(9):
        total = total + Deferred((made, (), 8), [(np.ones((3, 4)), np.ones((3, 5)))])
        assert sum([len(g) for g, _ in total._parts]) <= 8
    np.testing.assert_array_equal(np.asarray(total), np.full((4, 5), 30))
    np.testing.assert_array_equal(np.ones((4, 5)) + total + 1.0, np.full((4, 5), 32))


def test_penalties_on_gradients_wait_with_the_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    r = np.random.default_rng(0)
    W, x = core.Parameter(r.standard_normal((90, 70))), core.Variable(r.standard_normal((3, 70)))
    made: list[int] = []
    monkeypatch.setattr(weights, "_product", lambda g, x: made.append(len(g)) or g.T @ x)

    def penalty() -> Any:
        (g,) = core.grad([F.sum(F.tanh(F.linear(x, W)))], [x], enable_double_backprop=True)
        return F.sum(g * g) + F.sum(F.linear(x, W))

    penalty().backward()
    got, together = W.grad, made.copy()
    assert len(together) < 3 and max(together) >= 6
    with core.using_config("debug", True):  # in which none waits
        W.cleargrad()
        penalty().backward()
    assert made == together
    np.testing.assert_allclose(got, W.grad, rtol=1e-10)


def test_products_of_many_rows_do_not_wait() -> None:
    x, W = core.Variable(np.ones((400, 300), "f")), core.Parameter(np.ones((300, 300), "f"))
    tracemalloc.start()
    try:
        y = F.sum(F.linear(F.linear(x, W), W))
        before = tracemalloc.get_traced_memory()[0]
        y.backward(free_graph=True)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held - before < 1.1 * W.array.nbytes
