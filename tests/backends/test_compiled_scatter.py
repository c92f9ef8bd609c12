"""Sums into rows by a compiled loop: the bits of `numpy.add.at`, whatever is added where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from all_ops import CHECKED
from compiled_kernels import call_small
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend import scatter
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.array import scatter as loops
from core.registry import configuration
from core.testing import check_op

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

NUMPY = core.backend.get("numpy")


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows, in three threads."""
    call_small(monkeypatch, 1)
    monkeypatch.setattr(scatter, "SMALL", 1)
    monkeypatch.setattr(loops, "LEAST", 50)
    monkeypatch.setitem(configuration._shared, "num_threads", 3)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    height=st.integers(1, 40) | st.integers(128, 300),
    row=st.sampled_from([(1,), (7,), (64,), (3, 5)]),
    count=st.integers(0, 90),
    lowest=st.booleans(),
    dtype=st.sampled_from(["float32", "float64", "float16"]),
    numbers=st.sampled_from(["int8", "int32", "int64", "uint16"]),
    turned=st.booleans(),
    seed=st.integers(0, 99),
    before=st.sampled_from([(), (3,), (4, 5)]),
)
@example(200, (7,), 90, True, "float32", "int8", False, 0, ())
@example(200, (7,), 90, True, "float16", "int8", False, 0, ())
@example(20, (1,), 90, False, "float32", "int64", False, 0, (4, 5))
def test_sums_are_those_of_add_at(
    height: int,
    row: Any,
    count: int,
    lowest: bool,
    dtype: str,
    numbers: str,
    turned: bool,
    seed: int,
    before: Any,
) -> None:
    r = np.random.default_rng(seed)
    table = r.standard_normal((*before, height, *row)).astype(dtype)
    low = -height if lowest and numbers[0] == "i" else 0
    known = np.iinfo(numbers)
    low, high = max(low, known.min), min(height - 1, known.max)
    index = r.integers(low, high, count, endpoint=True).astype(numbers)
    values = r.standard_normal((*before, count, *row)).astype(dtype)
    values = np.asfortranarray(values) if turned else values
    places = (*(slice(None),) * len(before), index)
    expected = table.copy()
    np.add.at(expected, places, values)
    NUMPY.scatter_add(table, places, values)
    np.testing.assert_array_equal(table, expected, strict=True)


def test_one_number_and_one_row_are_added_everywhere() -> None:
    index = np.array([[2, 0], [2, 2]])
    for values in (np.float32(1.5), np.arange(4, dtype="f")):
        table = np.zeros((3, 4), "f")
        NUMPY.scatter_add(table, index, values)
        np.testing.assert_array_equal(table, np.outer([1, 0, 3], np.broadcast_to(values, 4)))


def test_rows_of_the_table_itself_are_added_as_they_were() -> None:
    table, index = np.arange(12, dtype="f").reshape(4, 3), np.array([1, 2, 3])
    expected = table.copy()
    expected[index] += table[:3]
    NUMPY.scatter_add(table, index, table[:3])
    np.testing.assert_array_equal(table, expected)


def test_what_may_not_be_written_is_refused() -> None:
    table = np.zeros((3, 4), "f")
    table.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        NUMPY.scatter_add(table, np.array([0, 1]), np.ones((2, 4), "f"))


def test_every_proof_of_the_embedding_holds() -> None:
    check_op(CHECKED["EmbedIDFunction"], None, ["numpy"])


def test_the_gradient_of_an_embedding_sums_rows_of_the_same_number() -> None:
    r = np.random.default_rng(0)
    W = core.Variable(r.standard_normal((50, 33)).astype("f"))
    x = r.integers(-1, 50, (20, 9))
    y = F.embed_id(x, W, ignore_label=-1)
    y.grad = r.standard_normal(y.shape).astype("f")
    y.backward()
    exact = np.zeros((50, 33))
    for number, g in zip(x.flat, y.grad.reshape(-1, 33), strict=True):
        if number >= 0:
            exact[number] += g
    np.testing.assert_allclose(W.grad, exact, rtol=1e-5, atol=1e-5)
