"""Products of few rows, and linear layers, by compiled loops: beside NumPy's products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compiled_kernels import taking
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend.kernels import compiler

if not compiler.available():
    pytest.skip("loops are not compiled here", allow_module_level=True)

from backends.numpy_backend.kernels.compiled.products import few_rows, linear

SIZES = st.integers(1, 60)


def whole(*shape: int, dtype: str = "float32") -> Any:
    """Small whole numbers, of which sums of products are exact in any order."""
    generator = np.random.default_rng(sum(shape))
    return generator.integers(-4, 5, shape).astype(dtype)


@pytest.fixture(autouse=True, scope="module")
def all_shapes() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"LEAST": 1, "PART": 1, "PART_OF_ONE": 1, "SHALLOW": 16}.items():
            patch.setattr(few_rows, name, value)
        patch.setattr(few_rows, "FEW", 60)
        patch.setattr(linear, "LEAST", 16)
        with taking(1):
            yield


@settings(max_examples=40)
@given(
    SIZES,
    st.integers(16, 90),
    st.integers(1, 900),
    st.sampled_from(["float32", "float64"]),
    st.booleans(),
    st.integers(1, 3),
)
def test_products_of_few_rows_are_products(
    rows: int, depth: int, columns: int, dtype: str, biased: bool, threads: int
) -> None:
    x, W = whole(rows, depth, dtype=dtype), whole(columns, depth, dtype=dtype)
    b = whole(columns, dtype=dtype) if biased else None
    found = few_rows.product(x, W.T, b, lambda: threads)
    assert found is not None and found.dtype == dtype
    np.testing.assert_array_equal(found, x @ W.T + (0 if b is None else b))


def test_what_comes_after_the_last_whole_vector_counts_once() -> None:
    x, W = np.ones((5, 21), "f"), np.ones((7, 21), "f")
    x[:, 5:16] = np.inf  # the last vector begins there; all of these belong to the first one
    assert np.isposinf(few_rows.product(x, W.T)).all()
    x[:, 5:16], x[2, 20] = 1, np.nan
    found = few_rows.product(x, W.T)
    assert np.isnan(found[2]).all() and (np.delete(found, 2, axis=0) == 21).all()


def test_the_bits_do_not_depend_on_who_computes_what() -> None:
    r = np.random.default_rng(0)
    for rows in (1, 3, 30):
        x, W = r.standard_normal((rows, 300)).astype("f"), r.standard_normal((700, 300)).astype("f")
        first = few_rows.product(x, W.T, threads=lambda: 1)
        for threads in (2, 2, 3):
            found = few_rows.product(x, W.T, threads=lambda n=threads: n)
            assert np.array_equal(found, first)


@pytest.mark.parametrize("change", [np.asfortranarray, lambda x: x[::2], lambda x: x.astype("f2")])
def test_other_layouts_and_dtypes_are_left_to_numpy(change: Any) -> None:
    x, W = whole(8, 32), whole(9, 32)
    assert few_rows.product(change(x), W.T) is None
    assert few_rows.product(x, np.ascontiguousarray(W.T)) is None


@settings(max_examples=40)
@given(SIZES, SIZES, SIZES, st.booleans(), st.integers(1, 3))
def test_linear_layers_and_their_gradients(
    n: int, k: int, m: int, biased: bool, threads: int
) -> None:
    x, W, g = whole(n, k), whole(m, k), whole(n, m)
    inputs = [core.Variable(a) for a in ([x, W, whole(m)] if biased else [x, W])]
    with core.using_config("num_threads", threads):
        y = F.linear(*inputs)
        y.grad = g
        y.backward()
    np.testing.assert_array_equal(y.array, x @ W.T + (whole(m) if biased else 0))
    expected = [g @ W, g.T @ x, g.sum(axis=0)]
    for given_, gradient in zip(inputs, expected, strict=False):
        np.testing.assert_array_equal(given_.grad, gradient)


@pytest.mark.parametrize("rows", [20, 4000])
@pytest.mark.parametrize("size", [3, 500])
def test_without_checks_biases_of_another_size_are_refused_not_read_beyond(
    rows: int, size: int
) -> None:
    x, W = np.ones((rows, 512), "f"), np.ones((100, 512), "f")
    with core.using_config("type_check", False), pytest.raises(ValueError, match="broadcast"):
        F.linear(x, W, np.ones(size, "f"))
