"""Sums and means of many rows, which NumPy adds one after the other, come out as of few."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend import sums
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.math import of_columns
from backends.numpy_backend.kernels.compiler import ROWS
from core.registry.threads import using_threads

LENGTHS = (1, 2, 3, 64, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS, 5000)
EPS = {"float32": 2.0**-24, "float64": 2.0**-53}


@st.composite
def long_arrays(draw: Any) -> Any:
    """An array of numbers of one sign, and axes of it."""
    shape = draw(st.lists(st.sampled_from(LENGTHS), min_size=1, max_size=3))
    while np.prod(shape) > 1_000_000:
        shape[shape.index(max(shape))] = 3
    numbers = np.random.RandomState(draw(st.integers(0, 99)))
    a = numbers.uniform(1, 2, shape).astype(draw(st.sampled_from([*EPS])))
    a = a.transpose(draw(st.permutations(range(a.ndim))))
    if draw(st.booleans()):
        a = a[::-1, ...]
    if draw(st.booleans()):
        a = a[..., ::2]
    if draw(st.booleans()):
        a = np.broadcast_to(a[:1], a.shape)
    every = [None, *range(-a.ndim, a.ndim), tuple(range(a.ndim)), tuple(range(a.ndim - 1)), (-1,)]
    return a, draw(st.sampled_from(every))


@given(long_arrays(), st.sampled_from(["sum", "mean"]), st.booleans())
def test_they_are_exact_to_the_rounding_of_some_thousand_additions(
    drawn: Any, name: str, keepdims: bool
) -> None:
    a, axis = drawn
    function, numpys = {"sum": (sums.total, np.sum), "mean": (sums.mean, np.mean)}[name]
    got = function(a, axis=axis, dtype=a.dtype, keepdims=keepdims)
    exact = numpys(a, axis=axis, dtype=np.longdouble, keepdims=keepdims)
    its: Any = numpys(a, axis=axis, keepdims=keepdims)
    assert type(got) is type(its) and got.shape == its.shape and got.dtype == its.dtype
    bound = (ROWS + a.size // ROWS + 64) * EPS[a.dtype.name]
    assert np.all(np.abs(got - exact) <= bound * exact)


@given(st.integers(1, ROWS), st.integers(1, 3), st.sampled_from(["sum", "mean"]))
def test_up_to_so_many_rows_have_numpys_bits(rows: int, columns: int, name: str) -> None:
    a = np.random.RandomState(rows).standard_normal((rows, columns)).astype("f")
    ours, numpys = {"sum": (sums.total, np.sum), "mean": (sums.mean, np.mean)}[name]
    for axis in (0, 1):
        assert ours(a, axis).tobytes() == numpys(a, axis).tobytes()


@pytest.mark.parametrize("dtype", ["float64", np.float64, np.dtype("float64")])
@pytest.mark.parametrize("function", [sums.total, sums.mean, sums.running["cumsum"]])
def test_another_dtype_is_that_of_the_result(function: Any, dtype: Any) -> None:
    assert function(np.ones((2 * ROWS, 3), "f"), axis=0, dtype=dtype).dtype == np.float64


@pytest.mark.parametrize("dtype", [*EPS])
@pytest.mark.parametrize("rows", [ROWS, ROWS + 1, 3 * ROWS + 5])
def test_gradients_of_biases_have_the_bits_of_the_sum(rows: int, dtype: str) -> None:
    numbers = np.random.RandomState(rows)
    b, W = core.Variable(np.zeros(64, dtype)), core.Variable(np.ones((64, 8), dtype))
    y = F.linear(numbers.standard_normal((rows, 8)).astype(dtype), W, b)
    y.grad = numbers.standard_normal(y.shape).astype(dtype)
    y.backward()
    assert b.grad.tobytes() == sums.total(y.grad, 0).tobytes()


@pytest.fixture
def many() -> np.ndarray[Any, Any]:
    return (100 + np.random.RandomState(0).standard_normal((500_000, 3))).astype("f")


def test_batch_normalization_of_many_rows(many: Any) -> None:
    y = F.batch_normalization(many, np.ones(3, "f"), np.zeros(3, "f")).array
    exact = (many - many.mean(0, dtype="d")) / np.sqrt(many.var(0, dtype="d") + 2e-5)
    np.testing.assert_allclose(y, exact, atol=3e-4)


@pytest.mark.parametrize("layer", ["batch", "group", "layer"])
def test_statistics_of_long_rows(layer: str) -> None:
    x = (1e4 + np.random.RandomState(0).standard_normal((1, 1, 1 << 22))).astype("f")
    one, zero = np.ones(1, "f"), np.zeros(1, "f")
    given = {
        "batch": lambda: F.batch_normalization(x, one, zero),
        "group": lambda: F.group_normalization(x, 1, one, zero),
        "layer": lambda: F.layer_normalization(x, np.ones_like(x[0, 0]), np.zeros_like(x[0, 0])),
    }
    exact = (x - x.mean(dtype="d")) / x.std(dtype="d")
    np.testing.assert_allclose(given[layer]().array, exact, atol=1e-3)


@pytest.mark.parametrize("rows", [43_000, 500_000])
@pytest.mark.parametrize("function", [F.sum, F.mean])
def test_programs_in_loops_sum_many_rows(function: Any, rows: int) -> None:
    x = np.full((rows, 3), 0.1, "f")
    found = core.trace(lambda x: function(abs(x) * 2.0, axis=0), x).fused()(x).array
    expected = 2 * np.float64(np.float32(0.1)) * (rows if function is F.sum else 1)
    np.testing.assert_allclose(found, np.full(3, expected), rtol=1e-4)


@pytest.mark.parametrize("layer", ["linear", "batch", "fixed", "layer"])
def test_gradients_of_many_rows(many: Any, layer: str) -> None:
    """Of shifts, which are sums of ones here: float32 counts to 16,777,216 by ones."""
    rows = 5 * (1 << 22) if layer == "linear" else len(many)
    x, one = np.broadcast_to(many[:1], (rows, 3)), np.ones(3, "f")
    weight = np.linspace(-1, 1, 3).astype("f")
    scale, shift = core.Variable(one.copy()), core.Variable(one * 0)
    given = {
        "linear": lambda: F.linear(np.ones((rows, 1), "f"), weight[:, None], shift),
        "batch": lambda: F.batch_normalization(many, scale, shift),
        "fixed": lambda: F.fixed_batch_normalization(x, scale, shift, one, one),
        "layer": lambda: F.layer_normalization(many, scale, shift),
    }
    y = given[layer]()
    y.grad = np.full(y.shape, 0.1, "f")
    y.backward()
    np.testing.assert_allclose(shift.grad, rows * np.float64(np.float32(0.1)), rtol=2e-4)


@given(
    st.integers(1, sums.SHORT + 2),
    st.lists(st.sampled_from([1, 2, 30, 700]), min_size=1, max_size=2),
    st.sampled_from(["float32", "float64", "float16", "int32", "uint8", "bool"]),
    st.sampled_from(["sum", "mean", "max", "min", "prod"]),
    st.sampled_from([None, 0, -1, (-1,), "last"]),
    st.booleans(),
)
def test_a_short_last_axis_has_numpys_bits(
    short: int, shape: list[int], dtype: str, name: str, axis: Any, keepdims: bool
) -> None:
    numbers = np.random.RandomState(short)
    reach = 1.5 if name == "prod" else 50
    a = numbers.uniform(-reach, reach, [*shape, short]).astype(dtype)
    if a.dtype.kind == "f" and a.size > 3:
        a.reshape(-1)[:3] = np.nan, np.inf, -np.inf
    axis = a.ndim - 1 if axis == "last" else axis
    others = {"max": sums.greatest, "min": sums.least, "prod": sums.multiplied}
    ours = ({"sum": sums.total, "mean": sums.mean} | others)[name]
    with np.errstate(invalid="ignore", over="ignore"):
        got, expected = (f(a, axis=axis, keepdims=keepdims) for f in (ours, getattr(np, name)))
        turned = ours(np.asfortranarray(a), axis=axis, keepdims=keepdims)
        part = ours(np.repeat(a, 2, -1)[..., ::2], axis=axis, keepdims=keepdims)
        if name in ("sum", "mean", "prod") and a.dtype in compiler.FLOATS:
            named = ours(a, axis=axis, dtype=dtype, keepdims=keepdims)
            np.testing.assert_array_equal(named, got, strict=True)
    if name in ("max", "min") or axis is None or short <= sums.SHORT:
        np.testing.assert_array_equal(got, expected, strict=True)
        if axis not in (None, 0):
            np.testing.assert_array_equal(part, expected, strict=True)
    rounding = 1e-2 if dtype == "float16" else 1e-4
    np.testing.assert_allclose(turned, expected, rtol=rounding, atol=50 * rounding)


@pytest.mark.parametrize("dtype", [*EPS])
@pytest.mark.parametrize("short", range(1, sums.SHORT + 2))
def test_each_length_of_a_short_last_axis_has_numpys_bits(short: int, dtype: str) -> None:
    a = np.random.RandomState(short).uniform(0.99, 1.01, (sums.LARGE, short)).astype(dtype)
    ours = {"sum": sums.total, "mean": sums.mean, "max": sums.greatest, "min": sums.least}
    for name, function in (ours | {"prod": sums.multiplied}).items():
        if short <= sums.SHORT or name in ("max", "min"):
            expected = getattr(np, name)(a, axis=-1)
            np.testing.assert_array_equal(function(a, axis=-1), expected, name, strict=True)


def have_numpys_bits(name: str, a: Any, **options: Any) -> None:
    """Demand sums, or means, to be those of NumPy to the sign of zeros."""
    ours, numpys = {"sum": (sums.total, np.sum), "mean": (sums.mean, np.mean)}[name]
    with np.errstate(all="ignore"):
        got, expected = ours(a, **options), numpys(a, **options)
    np.testing.assert_array_equal(got, expected, strict=True)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
    assert type(got) is type(expected)


@given(
    st.one_of(st.integers(8, 600), st.sampled_from([4096, 50_000, 131_071, 131_072, 300_001])),
    st.sampled_from([(), (1,), (3,), (40,), (7, 150)]),
    st.sampled_from([*EPS]),
    st.sampled_from(["sum", "mean"]),
    st.booleans(),
    st.integers(1, 2),
    st.sampled_from([(), (np.nan,), (np.inf, -np.inf), (1e38, 1e38), (-0.0,)]),
    st.booleans(),
)
def test_rows_in_one_piece_have_numpys_bits(
    n: int, before: Any, dtype: str, name: str, keepdims: bool, threads: int, odd: Any, two: bool
) -> None:
    before = before[:1] if n > 5000 else before
    a = np.random.RandomState(n).standard_normal((*before, n)).astype(dtype)
    a[..., : len(odd)] = odd
    a[..., :] = -0.0 if odd == (-0.0,) else a
    a, axis = (a[..., None, :], (-2, -1)) if two else (a, None if before == (3,) else -1)
    with using_threads(threads):
        have_numpys_bits(name, a, axis=axis, keepdims=keepdims)


@given(
    st.lists(st.sampled_from([1, 2, 3, 7, 20, 64, 300, 1030]), min_size=2, max_size=4),
    st.data(),
    st.sampled_from([*EPS]),
    st.sampled_from(["sum", "mean"]),
    st.booleans(),
    st.integers(1, 2),
)
def test_columns_have_numpys_bits(
    shape: list[int], data: Any, dtype: str, name: str, keepdims: bool, threads: int
) -> None:
    while np.prod(shape) > 1_000_000:
        shape[shape.index(max(shape))] = 5
    if np.prod(shape) < 20_000 and data.draw(st.booleans()):  # else few elements in many rows
        shape[0] *= -(-of_columns.LEAST // int(np.prod(shape)))
    a = np.random.RandomState(len(shape)).standard_normal(shape).astype(dtype)
    a.reshape(-1)[:3] = data.draw(st.sampled_from([-0.0, np.nan, np.inf, 1e38]))
    first = data.draw(st.integers(0, a.ndim - 1))
    axis: Any = tuple(range(first, data.draw(st.integers(first, a.ndim - 1)) + 1))
    if math.prod([shape[i] for i in axis]) > ROWS:
        axis = axis[:1] if shape[first] <= ROWS else ()
    axis = axis[0] - a.ndim if len(axis) == 1 and data.draw(st.booleans()) else axis
    with using_threads(threads):
        have_numpys_bits(name, a, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("short", range(2, sums.SHORT + 1))
def test_zeros_in_a_short_last_axis_have_numpys_signs(short: int) -> None:
    a = np.full((sums.LARGE, short), -0.0, "f")
    for ours, numpys in ((sums.total, np.sum), (sums.mean, np.mean), (sums.greatest, np.max)):
        expected = np.signbit(numpys(a, axis=-1))
        np.testing.assert_array_equal(np.signbit(ours(a, axis=-1)), expected)


@pytest.mark.parametrize("axis", [None, -1, 1, (0, 2), (0, 2, 3)])
def test_what_is_left_out_of_a_sum_counts_nowhere(axis: Any) -> None:
    a = np.random.RandomState(0).uniform(0.99, 1.01, (8, 4, 48, 48)).astype("f")
    where, rounding = np.random.RandomState(1).rand(*a.shape) > 0.5, {"rtol": 1e-5}
    where[:, 0] = where[..., 0] = True
    for ours, name in ((sums.total, "sum"), (sums.mean, "mean"), (sums.multiplied, "prod")):
        expected = getattr(np, name)(a, axis=axis, where=where)
        np.testing.assert_allclose(ours(a, axis=axis, where=where), expected, **rounding)
        if name != "mean":
            expected = getattr(np, name)(a, axis=axis, initial=3)
            np.testing.assert_allclose(ours(a, axis=axis, initial=3), expected, **rounding)
    with pytest.raises(np.exceptions.AxisError):
        sums.total(a, axis=4)


@given(
    st.integers(1, 9),
    st.sampled_from([(17,), (300,), (2, 13), (5, 5, 7)]),
    st.sampled_from([*EPS]),
    st.integers(1, 2),
    st.booleans(),
    st.sampled_from([(), (np.nan,), (np.inf, -np.inf), (0.0, -0.0), (-np.inf, np.nan)]),
)
def test_rows_in_one_piece_have_numpys_extremes_and_precise_products(
    rows: int, last: Any, dtype: str, threads: int, keepdims: bool, odd: Any
) -> None:
    a = np.random.RandomState(rows).uniform(-1.5, 1.5, (300, rows, *last)).astype(dtype)
    a[-1].reshape(-1)[: len(odd)] = odd
    axis = tuple(range(-len(last), 0)) if len(last) > 1 else -1
    with using_threads(threads), np.errstate(invalid="ignore"):
        for ours, name in ((sums.greatest, "max"), (sums.least, "min"), (sums.multiplied, "prod")):
            got = ours(a, axis=axis, keepdims=keepdims)
            expected = getattr(np, name)(a.astype("d"), axis, keepdims=keepdims).astype(dtype)
            rtol = 0 if name != "prod" else 1e-6 if dtype == "float32" else 1e-12
            atol = 0.0
            if name == "prod" and not compiler.available():  # NumPy's own, which rounds each time
                rtol, atol = 100 * rtol, float(np.finfo(dtype).tiny)
            np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol, strict=True)


@pytest.mark.skipif(not compiler.available(), reason="loops are not compiled")
def test_products_of_rows_do_not_overflow_on_the_way() -> None:
    x = np.tile(np.array([1e30, 1e30, 1e-30, 1e-30], "f"), (512, 5))
    np.testing.assert_allclose(F.prod(x, axis=1).array, 1, rtol=1e-5)


@pytest.mark.parametrize("function", [F.sum, F.prod, F.mean, F.max])
def test_operations_reduce_a_short_last_axis_by_slices(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    whole = sums._in_order

    def in_order(ufunc: Any, columns: Any, out: Any) -> Any:
        seen.append(columns.shape)
        return whole(ufunc, columns, out)

    monkeypatch.setattr(sums, "_in_order", in_order)
    for x in (
        np.ones((1000, 16), "f"),
        np.ones((1000, 32), "f")[:, ::2],
        np.broadcast_to(np.ones((), "f"), (1000, 16)),
        np.broadcast_to(np.ones(16, "f"), (1000, 16)),
        np.ones((10, 100, 16), "f").transpose(1, 0, 2),
        np.ones((16, 1000), "f").T,  # whose rows NumPy adds
    ):
        function(x, axis=-1)
    assert seen == [(16, 1000)] * 5


@given(
    st.lists(st.sampled_from([1, 2, 3, 5, 64, 700]), min_size=1, max_size=3),
    st.sampled_from(["float32", "float64", "int32", ">f4"]),
    st.sampled_from(["cumsum", "cumprod"]),
    st.sampled_from([None, 0, -1]),
    st.lists(st.sampled_from(["turned", "backwards", "flipped", "every other"]), max_size=2),
    st.sampled_from([1, 3]),
)
def test_running_sums_have_numpys_bits_large_ones_of_float64(
    shape: list[int], dtype: str, name: str, axis: Any, layout: list[str], threads: int
) -> None:
    a = np.random.RandomState(0).uniform(-1.5, 1.5, shape).astype(dtype)
    if a.dtype.kind == "f" and a.size > 3:
        a.reshape(-1)[:3] = -0.0, np.inf, np.nan
    for change in layout:
        a = {"turned": a.T, "backwards": a[::-1], "flipped": np.flip(a)}.get(change, a[..., ::2])
    with np.errstate(all="ignore"), using_threads(threads):
        wide = "d" if a.dtype == "f" and a.size >= compiler.SMALL else None
        got = sums.running[name](a, axis=axis)
        expected = getattr(np, name)(a, axis=axis, dtype=wide)
        expected = expected.astype(a.dtype) if wide else expected
    np.testing.assert_array_equal(got, expected, strict=True)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


@pytest.mark.parametrize("rows", range(1, 10))
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_sums_of_any_number_of_rows(rows: int, name: str) -> None:
    size = compiler.SMALL // rows + 1
    a = np.random.RandomState(rows).uniform(0.99, 1.01, (rows, size)).astype("f")
    for part, axis in ((a, -1), (a[:, ::-1], 1), (a.T, 0), (a[:, :, None], 1), (a[None], -1)):
        found = sums.running[name](part, axis=axis)
        expected = getattr(np, name)(part, axis=axis, dtype="d").astype("f")
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_rows_that_loops_add_up(name: str, threads: int) -> None:
    x, ones = np.full((700_000, 3), 0.1, "f"), np.ones((700_000, 3), "f")
    step = core.capture(lambda x, y: getattr(F, name)(x * y, axis=0).array, fuse=True)
    with using_threads(threads):
        for _ in range(3):
            found = step(x, ones)
    expected = getattr(np, name)(x, axis=0, dtype="d")
    np.testing.assert_allclose(found, expected, rtol=1e-4)
