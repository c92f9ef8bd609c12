"""Recurrent cells in compiled loops: values and gradients of the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compiled_kernels import call_small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.rnn import recurrent, sequences
from core.registry import configuration
from plugins.functions.rnn.gru_sequence import GRUSequence
from plugins.functions.rnn.lstm import LSTM
from plugins.functions.rnn.lstm_sequence import LSTMSequence
from plugins.functions.rnn.simple_sequence import ReLUSequence, TanhSequence

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

NUMPY = core.backend.get("numpy")
SEQUENCES = {LSTMSequence: 4, GRUSequence: 3, TanhSequence: 1, ReLUSequence: 1}


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches, in three threads."""
    call_small(monkeypatch, 0)
    monkeypatch.setattr(recurrent, "LEAST", 100)
    monkeypatch.setitem(configuration._shared, "num_threads", 3)


def run(cell: Any, inputs: list[Any], given: list[Any], **settings: Any) -> list[Any]:
    """Outputs, and gradients of the inputs by those of the outputs that are given."""
    variables = [core.Variable(x) for x in inputs]
    outputs = cell(**settings).apply(variables)
    used = [(y, core.Variable(g)) for y, g in zip(outputs, given, strict=True) if g is not None]
    gradients = core.grad([y for y, _ in used], variables, [g for _, g in used])
    return [y.array for y in (*outputs, *gradients)]


def by_formula(cell: Any, *args: Any, **settings: Any) -> list[Any]:
    tables = (NUMPY.kernels, NUMPY.gradient_kernels)
    kernels = [table.pop(cell) for table in tables]
    try:
        return run(cell, *args, **settings)
    finally:
        for table, kernel in zip(tables, kernels, strict=True):
            table[cell] = kernel


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(0, 9),
    units=st.sampled_from([1, 7, 33, 130]),
    dtype=st.sampled_from(["float32", "float64"]),
    turned=st.booleans(),
    missing=st.sampled_from([None, 0, 1]),
    scale=st.sampled_from([1, 30]),
    seed=st.integers(0, 99),
)
def test_values_and_gradients_are_those_of_the_formula(
    n: int, units: int, dtype: str, turned: bool, missing: Any, scale: int, seed: int
) -> None:
    r = np.random.default_rng(seed)

    def drawn(columns: int) -> Any:
        x = (scale * r.standard_normal((n, columns))).astype(dtype)
        return np.asfortranarray(x) if turned else x

    inputs = [drawn(width * units) for width in (1, 4)]
    given = [drawn(units) if i != missing else None for i in range(2)]
    mine, theirs = run(LSTM, inputs, given), by_formula(LSTM, inputs, given)
    near = 1e-5 if dtype == "float32" else 1e-13
    for a, b in zip(mine, theirs, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=near, atol=near * scale**2)


def test_a_batch_that_shrinks_is_left_to_the_formula() -> None:
    r = np.random.default_rng(0)
    inputs = [r.standard_normal((5, 8)).astype("f"), r.standard_normal((3, 32)).astype("f")]
    given = [np.ones((5, 8), "f"), np.ones((3, 8), "f")]
    for a, b in zip(run(LSTM, inputs, given), by_formula(LSTM, inputs, given), strict=True):
        np.testing.assert_array_equal(a, b)


def test_gates_have_second_gradients() -> None:
    r = np.random.default_rng(1)
    c, x = (core.Variable(r.standard_normal((4, n))) for n in (3, 12))

    def slope() -> Any:
        _, h = F.lstm(c, x)
        (gx,) = core.grad([F.sum(h * h)], [x], enable_double_backprop=True)
        return F.sum(gx * gx)

    (found,) = core.grad([slope()], [x])
    x.array[1, 5] += 1e-6
    above = float(slope().array)
    x.array[1, 5] -= 2e-6
    below = float(slope().array)
    np.testing.assert_allclose(found.array[1, 5], (above - below) / 2e-6, rtol=1e-5)


def drawn_for(cell: Any, lengths: list[int], units: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """What sequences of these lengths are given, gradients of what they give, and the setting."""
    r, columns, n = np.random.default_rng(seed), SEQUENCES[cell] * units, len(lengths)
    lengths = sorted(lengths, reverse=True)
    states = [(n, units)] * (2 if cell is LSTMSequence else 1)
    shapes = [*states, (sum(lengths), columns), (columns, units), (columns,)]
    inputs = [r.standard_normal(s) for s in (shapes if cell is GRUSequence else shapes[:-1])]
    inputs[len(states) + 1] /= units**0.5  # else the last bit of a step grows with each
    given = [r.standard_normal(s) for s in ((sum(lengths), units), *states)]
    return inputs, given, tuple([lengths[0] - own for own in lengths if own < lengths[0]])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cell=st.sampled_from(list(SEQUENCES)),
    lengths=st.sampled_from([1, 3, 16]).flatmap(
        lambda n: st.lists(st.integers(1, n) | st.just(n), min_size=1, max_size=9)
    ),
    reverse=st.booleans(),
    units=st.sampled_from([1, 7, 33, 130]),
    dtype=st.sampled_from(["float32", "float64"]),
    missing=st.sets(st.integers(0, 2), max_size=1),
    alone=st.booleans(),
    seed=st.integers(0, 99),
)
def test_sequences_are_those_of_the_formula(
    cell: Any, lengths: list[int], reverse: bool, units: int, dtype: str, missing: set[int],
    alone: bool, seed: int,
) -> None:  # fmt: skip
    inputs, given, shorter = drawn_for(cell, lengths, units, seed)
    inputs, given = [[a.astype(dtype) for a in arrays] for arrays in (inputs, given)]
    asked = [None if i in missing else g for i, g in enumerate(given)]
    with pytest.MonkeyPatch.context() as patch:
        # Each thread makes all steps of some sequences, or all share each product.
        patch.setattr(sequences, "ROWS", 1 if alone else 1000)
        patch.setattr(sequences, "PART", 1)
        patch.setattr(sequences, "SHORT", 0)
        how = {"shorter": shorter, "reverse": reverse}
        mine, theirs = [each(cell, inputs, asked, **how) for each in (run, by_formula)]
    near = 1e-4 if dtype == "float32" else 1e-12
    for a, b in zip(mine, theirs, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=near, atol=near * max(1, abs(b).max()))


@pytest.mark.parametrize("lengths", [[9] * 13, [*range(1, 10), 9, 9, 9, 9]])
@pytest.mark.parametrize("cell", SEQUENCES)
def test_sequences_have_the_same_bits_whoever_computes_which(
    cell: Any, lengths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, given, shorter = drawn_for(cell, lengths, 40)
    monkeypatch.setattr(sequences, "PART", 1)
    found = []
    for threads, rows in ((1, 1), (3, 1), (2, 1), (2, 1000)):
        monkeypatch.setitem(configuration._shared, "num_threads", threads)
        monkeypatch.setattr(sequences, "ROWS", rows)
        monkeypatch.setattr(sequences, "SHORT", 0)
        # Products over all steps have parts of threads.
        found.append(run(cell, inputs, given, shorter=shorter)[: len(given)])
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("cell", SEQUENCES)
def test_what_is_not_finite_stays_where_it_is(cell: Any) -> None:
    inputs, given, _ = drawn_for(cell, [9] * 6, 16)
    inputs[0][2, 3] = np.nan
    mine, theirs = [each(cell, inputs, given)[0] for each in (run, by_formula)]
    mine, theirs = [found.reshape(9, 6, 16) for found in (mine, theirs)]
    np.testing.assert_array_equal(np.isnan(mine), np.isnan(theirs))
    assert np.isnan(mine[:, 2]).any() and not np.isnan(mine[:, :2]).any()


def test_without_checks_states_of_another_size_are_left_to_the_formula() -> None:
    n, units = 8, 64
    inputs = [(n, units), (n - 3, units), (2 * n, 4 * units), (4 * units, units)]
    with core.using_config("type_check", False), pytest.raises(ValueError, match="broadcast"):
        LSTMSequence.call(*[np.ones(shape, "f") for shape in inputs])
