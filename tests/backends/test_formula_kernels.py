"""Kernels from formulas on NumPy: large arrays in loops, small ones by the formulas themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend.kernels import compiled, compiler, formulas, plain
from core.errors import GraphError, OutOfRange
from core.registry.configuration import using_config
from core.registry.threads import using_threads
from core.tracing.formulas import ANY_SHAPE, Formulas
from plugins.functions.loss.huber_loss import HuberLoss
from plugins.functions.math.erf import Erf

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

NUMPY = core.backend.get("numpy")
LARGE = formulas.LEAST


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, "f")


def gradients(function, *arrays):
    """What a function gives, and the gradients of its squares' sum."""
    inputs = [core.Variable(a) for a in arrays]
    y = function(*inputs)
    F.sum(y * y).backward()
    return [y.array, *[v.grad for v in inputs]]


def known(cls: type) -> list[object]:
    """For what shapes there are kernels of a class."""
    return [key[-1] for key in formulas._formulas(NUMPY)._known if cls in key]


CASES = {
    "sqrt": (lambda x: F.sqrt(F.absolute(x) + 1), 1),
    "erf": (F.erf, 1),
    "huber": (lambda x, t: F.huber_loss(x, t, 1.0, reduce="no"), 2),
    "squared error of sums": (F.mean_squared_error, 2),
    "logsumexp": (lambda x: F.logsumexp(x, axis=1), 1),
    "normalize": (F.normalize, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_formula_and_repeat_in_threads(name: str) -> None:
    function, count = CASES[name]
    arrays = [drawn(LARGE // 128, 256, seed=i) for i in range(count)]
    precise = gradients(function, *[a.astype("d") for a in arrays])
    for threads in (1, 2, 3):
        with using_threads(threads):
            found, again = gradients(function, *arrays), gradients(function, *arrays)
        for y, same, expected in zip(found, again, precise, strict=True):
            np.testing.assert_array_equal(y, same)
            np.testing.assert_allclose(y, expected, rtol=2e-5, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(LARGE, 2 * LARGE), st.sampled_from([1, 3, 250]))
def test_an_elementwise_operation_of_like_inputs_has_one_kernel_for_all_shapes(size, columns):
    x = drawn(-(-size // columns), columns)
    before = known(Erf)
    found = gradients(F.erf, x)
    expected = gradients(F.erf, x.astype("d"))
    for y, precise in zip(found, expected, strict=True):
        np.testing.assert_allclose(y, precise, rtol=2e-5, atol=1e-6)
    assert {*known(Erf)} == {*before, ANY_SHAPE}


def test_small_arrays_are_left_to_formulas() -> None:
    before = known(HuberLoss)
    x = drawn(LARGE // 2 - 1, 2)
    gradients(lambda x, t: F.huber_loss(x, t, 1.0), x, x[::-1])
    assert known(HuberLoss) == before


@pytest.mark.parametrize("name", CASES)
def test_captured_steps_have_the_bits_of_eager(name: str) -> None:
    function, count = CASES[name]
    arrays = [drawn(LARGE // 128, 256, seed=i) for i in range(count)]
    expected = gradients(function, *arrays)
    step = core.capture(lambda *arrays: gradients(function, *arrays))
    for _ in range(3):
        for y, same in zip(step(*arrays), expected, strict=True):
            np.testing.assert_array_equal(y, same)


def test_arrays_that_lie_anyhow_are_read_as_they_are() -> None:
    x, t = drawn(600, 800), drawn(600, 800, seed=1)
    expected = gradients(F.squared_difference, x[::2, ::-2].copy(), t[::2, ::2].copy())
    found = gradients(F.squared_difference, x[::2, ::-2], t[::2, ::2])
    turned = gradients(F.squared_difference, np.asfortranarray(x[::2, ::-2]), t[::2, ::2])
    for y, other, same in zip(found, turned, expected, strict=True):
        np.testing.assert_array_equal(y, same)
        np.testing.assert_array_equal(other, same)


def test_debug_mode_looks_at_values_as_before() -> None:
    x = np.full((LARGE,), -1, "f")
    silent = np.errstate(invalid="ignore")
    with silent, using_config("debug", True), pytest.raises(GraphError, match="NaN"):
        F.sqrt(core.Variable(x))


def test_what_has_a_kernel_by_hand_stands_in_no_list_of_formulas() -> None:
    by_hand = {**compiled.COMPUTE}, {**compiled.GRADIENT, **plain.GRADIENT}
    for table, others in zip((formulas.COMPUTE, formulas.GRADIENT), by_hand, strict=True):
        assert not {*table} & {*others}


def test_labels_outside_are_refused_by_the_formula() -> None:
    t = np.zeros(LARGE // 128, "i")
    t[500] = 256
    with pytest.raises(OutOfRange, match=r"Hinge: expected t in \[0, 256\), got 256 at \(500,\)"):
        F.hinge(drawn(LARGE // 128, 256), t)


@pytest.mark.parametrize("name", ["erf", "ndtr", "log_ndtr", "lgamma"])
def test_loops_of_few_elements_are_looked_for_once(name: str, monkeypatch) -> None:
    function, x = getattr(F, name), np.abs(drawn(7, 5)) + 1
    expected = function(x).array
    precise = function(x.astype("d")).array

    def looked(*_: object) -> None:
        raise AssertionError("looked for again")

    monkeypatch.setattr(Formulas, "_found", looked)
    for same in (x, np.asfortranarray(x), x.view(np.memmap), x[::-1]):
        found = function(same).array
        np.testing.assert_array_equal(found, expected[:: -1 if same.strides[0] < 0 else 1])
        assert found.dtype == "f" and not np.shares_memory(found, expected)
    np.testing.assert_allclose(expected, precise, rtol=1e-4, atol=1e-5)
