"""Arithmetic in loops: of large arrays, and of those that broadcast, with NumPy's bits."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled_kernels import taking
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import core
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.math import arithmetic, broadcasting
from core.arrays.spec import spec_of
from core.registry.threads import using_threads

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

OPERATIONS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}
SPECIAL = [-0.0, 0.0, np.inf, -np.inf, np.nan, 1e38]
NUMPY = core.backend.get("numpy")

operations = st.sampled_from([*OPERATIONS])
dtypes = st.sampled_from(["float32", "float64"])
threads = st.integers(1, 3)


@pytest.fixture(autouse=True, scope="module")
def of_few() -> Iterator[None]:
    """Arrays of any size are computed in loops, and parts may have one element."""
    with taking(1):
        yield


@st.composite
def pairs(draw: Any) -> Any:
    """Two arrays whose shapes broadcast, with special values among their elements."""
    side = st.one_of(st.integers(1, 5), st.sampled_from([15, 16, 17, 33, 70]))
    shapes = draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4)).input_shapes
    if draw(st.booleans()):  # a long last axis
        n = draw(side)
        ends = draw(st.sampled_from([(n, n), (n, 1), (1, n)]))
        shapes = [(*shape, end) for shape, end in zip(shapes, ends, strict=True)]
    dtype = draw(dtypes)
    random = np.random.RandomState(draw(st.integers(0, 99)))
    arrays = []
    for shape in shapes:
        a = np.asarray(random.standard_normal(shape), dtype)
        a.reshape(-1)[: draw(st.integers(0, 2))] = draw(st.sampled_from(SPECIAL))
        arrays.append(a)
    return arrays


def same_bits(got: Any, expected: Any) -> None:
    """The same values, signs of zeros included, shapes and dtypes."""
    assert type(got) is np.ndarray and got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(expected)[known])


@given(pairs(), operations, threads)
def test_results_have_numpys_bits(arrays: Any, name: str, count: int) -> None:
    x, y = arrays
    with np.errstate(all="ignore"), using_threads(count):
        expected = OPERATIONS[name](x, y)
        got = getattr(arithmetic, name)(None, np, x, y)
        if got is not NotImplemented:
            same_bits(got, expected)
        same_bits(OPERATIONS[name](core.Variable(x), y).array, np.asarray(expected))


@pytest.mark.parametrize(
    "shapes",
    [((6, 5), (5,)), ((6, 5), (6, 1)), ((6, 1), (1, 5)), ((2, 3, 4, 5), (3, 1, 1)), ((7, 9), ())],
)
@pytest.mark.parametrize("name", OPERATIONS)
def test_these_shapes_are_computed_in_loops(name: str, shapes: Any) -> None:
    x, y = (np.ones(shape, "f") for shape in shapes)
    for a, b in ((x, y), (y, x)):
        assert getattr(arithmetic, name)(None, np, a, b) is not NotImplemented
        assert getattr(arithmetic, name).fits(spec_of(a), spec_of(b))


def test_arrays_of_one_shape_are_computed_in_loops_where_threads_divide_them() -> None:
    x = np.ones((6, 5), "f")
    with using_threads(2):
        assert arithmetic.add(None, np, x, x) is not NotImplemented
    with using_threads(1):
        assert arithmetic.add(None, np, x, x) is NotImplemented
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(broadcasting, "PART", 16)
        assert not arithmetic.add.fits(spec_of(x), spec_of(x))


@pytest.mark.parametrize("shapes", [((2, 3, 1, 4, 1), (1, 1, 5, 1, 6)), ((0, 3), (3,))])
def test_what_takes_more_loops_or_none_is_numpys(shapes: Any) -> None:
    x, y = (np.ones(shape, "f") for shape in shapes)
    assert arithmetic.multiply(None, np, x, y) is NotImplemented
    same_bits((core.Variable(x) * y).array, x * y)


def test_arrays_that_lie_otherwise_are_numpys(tmp_path: Path) -> None:
    row = np.arange(4, dtype="f")
    mapped = np.memmap(tmp_path / "a", np.float32, "w+", shape=(5, 4))
    mapped[:] = 3
    odd = np.frombuffer(bytearray(81), np.uint8)[1:].view("f").reshape(5, 4)
    for x in (np.ones((4, 5), "f").T, np.ones((5, 8), "f")[:, ::2], mapped, odd):
        assert arithmetic.multiply(None, np, x, row) is NotImplemented
        np.testing.assert_array_equal((core.Variable(x) * row).array, np.asarray(x) * row)


@given(pairs(), operations, st.integers(1, 3), threads, st.lists(st.booleans(), max_size=5))
def test_gradients_are_those_of_the_rules(
    arrays: Any, name: str, needed: int, count: int, repeats: list[bool]
) -> None:
    def run() -> list[Any]:
        x, y = (core.Variable(a, requires_grad=bool(needed >> i & 1)) for i, a in enumerate(arrays))
        z = OPERATIONS[name](x, y)
        g = np.arange(1, z.size + 1, dtype=z.dtype).reshape(z.shape)
        along = zip(repeats, z.shape, strict=False)  # as of sums over these axes
        z.grad = np.broadcast_to(g[tuple([slice(1 if r else n) for r, n in along])], z.shape)
        z.backward()
        return [z.array, x.grad, y.grad]

    with np.errstate(all="ignore"), using_threads(count):
        found = run()
        kept = [(table, dict(table)) for table in (NUMPY.kernels, NUMPY.gradient_kernels)]
        try:
            for table, _ in kept:
                table.clear()
            expected = run()
        finally:
            for table, kernels in kept:
                table.update(kernels)
    for got, wanted in zip(found, expected, strict=True):
        assert (got is None) == (wanted is None)
        if got is not None:
            same_bits(got, wanted)


@given(pairs(), operations, st.sampled_from([2, 0, -0.0, 0.1, -3.5, 1e39, np.inf, np.nan]), threads)
def test_numbers_count_as_in_numpy(arrays: Any, name: str, number: float, count: int) -> None:
    x, _ = arrays
    with np.errstate(all="ignore"), using_threads(count), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers beyond float32
        for first in (False, True):
            ours = [core.Variable(x), number][:: -1 if first else 1]
            numpys = [x, number][:: -1 if first else 1]
            got = OPERATIONS[name](*ours).array
            same_bits(got, np.asarray(OPERATIONS[name](*numpys)))


@pytest.mark.parametrize("shapes", [((6, 50), (50,)), ((2, 3, 4), (3, 1)), ((9, 8), (9, 8))])
@pytest.mark.parametrize("name", OPERATIONS)
def test_replays_have_the_bits_of_eager(name: str, shapes: Any) -> None:
    def step(x: Any, y: Any) -> Any:
        x, y = core.Variable(x), core.Variable(y)
        z = OPERATIONS[name](x, y)
        gx, gy = core.grad([z], [x, y], grad_outputs=[z * 0.5])
        return z, gx, gy

    captured = core.capture(step)
    with using_threads(2):
        for seed in range(3):
            random = np.random.RandomState(seed)
            x, y = (random.standard_normal(shape).astype("f") for shape in shapes)
            for got, expected in zip(captured(x, y), step(x, y), strict=True):
                same_bits(got.array, expected.array)
    assert captured.replayed == 2
