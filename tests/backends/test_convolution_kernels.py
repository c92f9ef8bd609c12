"""Compiled convolutions: equal to the formula for every setting, in little memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from compiled_kernels import call_small
from hypothesis import assume, example, given
from hypothesis import strategies as st

import core
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.convolution import (
    along_rows,
    direct,
    few_places,
    winograd,
    winograd_filters,
)
from backends.numpy_backend.kernels.compiled.convolution import convolution as kernels
from backends.numpy_backend.kernels.compiled.convolution import plans as convolution_plans
from backends.numpy_backend.kernels.compiled.convolution.plans import axes_of
from backends.numpy_backend.kernels.emitter import Registers, registers
from core.arrays.windows import Geometry, window_count
from core.registry import configuration
from plugins.functions.connection.convolution import (
    Convolution,
    ConvolutionFilterGradient,
    Deconvolution,
)

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

KERNELS = core.backend.get("numpy").kernels
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No array is too small for the kernels, and there are three threads."""
    call_small(monkeypatch, -1)
    monkeypatch.setattr(convolution_plans, "LEAST", 1000)
    monkeypatch.setitem(configuration._shared, "num_threads", 3)


@contextmanager
def formulas() -> Iterator[None]:
    kept = dict(KERNELS)
    KERNELS.clear()
    try:
        yield
    finally:
        KERNELS.update(kept)


class Case(NamedTuple):
    """Shapes and settings of a convolution."""

    images: int
    groups: int
    channels: int
    filters: int
    size: tuple[int, ...]
    ksize: tuple[int, ...]
    stride: tuple[int, ...] = (1, 1)
    pad: tuple[int, ...] = (0, 0)
    dilate: tuple[int, ...] = (1, 1)
    cover_all: bool = False
    bias: bool = False

    @property
    def settings(self) -> tuple[Any, ...]:
        return self.stride, self.pad, self.cover_all, self.dilate, self.groups

    @property
    def out(self) -> tuple[int, ...]:
        axes = zip(self.size, self.ksize, self.stride, self.pad, self.dilate, strict=True)
        return tuple([window_count(n, k, s, p, self.cover_all, d) for n, k, s, p, d in axes])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    ndim = draw(st.integers(1, 3))

    def each(low: int, high: int) -> tuple[int, ...]:
        return draw(st.tuples(*[st.integers(low, high)] * ndim))

    case = Case(
        draw(st.integers(0, 5)),
        draw(st.sampled_from([1, 1, 2, 3])),
        draw(st.integers(1, 6)),
        draw(st.integers(1, 17)),
        each(1, [90, 30, 9][ndim - 1]),
        each(1, 4),
        each(1, 3),
        each(0, 4),
        each(1, 2),
        draw(st.booleans()),
        draw(st.booleans()),
    )
    assume(min(case.out) > 0)
    return case


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "contiguous": lambda a: a,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "channels last": lambda a: np.moveaxis(np.moveaxis(a, 1, -1).copy(), -1, 1),
    "not aligned": lambda a: np.frombuffer(b"?" + a.tobytes(), a.dtype, a.size, 1).reshape(a.shape),
}


@given(cases(), st.sampled_from(["float32", "float64"]), st.sampled_from(sorted(LAYOUTS)))
@example(Case(3, 1, 20, 50, (12, 12), (5, 5)), "float32", "contiguous")
@example(Case(2, 1, 70, 9, (9, 8), (3, 3), pad=(1, 1), bias=True), "float32", "contiguous")
@example(Case(2, 4, 1, 1, (33, 50), (3, 3), pad=(1, 1)), "float64", "contiguous")
@example(Case(1, 1, 3, 4, (150, 151), (7, 7), (2, 2), (3, 3)), "float32", "contiguous")
@example(Case(9, 1, 64, 33, (2, 2), (1, 1)), "float32", "contiguous")
@example(Case(3, 2, 5, 20, (9, 8), (1, 1), bias=True), "float32", "reversed")
@example(Case(1, 1, 19, 70, (70,), (1,), (1,), (0,), (1,), bias=True), "float64", "not aligned")
def test_equal_to_the_formula(case: Case, dtype: str, layout: str) -> None:
    compare(case, dtype, layout)


@st.composite
def threes(draw: st.DrawFn) -> Case:
    numbers = [draw(st.integers(low, high)) for low, high in ((0, 5), (1, 3), (1, 20), (1, 20))]
    deep = draw(st.lists(st.integers(1, 4), max_size=1))  # filters on slices of images
    size = draw(st.tuples(*[st.integers(1, 6) for _ in deep], *[st.integers(1, 35)] * 2))
    pad = draw(st.tuples(*[st.integers(0, 4) for _ in size]))
    one = (1,) * len(size)
    case = Case(*numbers, size, (*deep, 3, 3), one, pad, one, bias=draw(st.booleans()))
    assume(min(case.out) > 0)
    return case


@given(cases(), st.sampled_from([16, 32, 48]), st.sampled_from(["float32", "float64"]))
@example(Case(16, 1, 16, 9, (2, 2), (3, 3), pad=(1, 1), bias=True), 32, "float32")
@example(Case(33, 1, 7, 30, (4, 3), (3, 3), (2, 2), (1, 1)), 16, "float64")
def test_few_places(case: Case, channels: int, dtype: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_places, "FEW", 1 << 30)
        patch.setattr(few_places, "LEAST", 1000)
        patch.setattr(few_places, "TURNED", 100)
        compare(case._replace(groups=1, channels=channels), dtype, "contiguous")


@given(cases(), st.sampled_from([8, 16, 33, 80]), st.sampled_from(["float32", "float64"]))
@example(Case(3, 1, 1, 1, (1, 1), (3, 3), pad=(1, 1), bias=True), 48, "float32")
@example(Case(2, 1, 1, 1, (7, 7), (3, 3), (2, 2), (1, 1)), 33, "float32")
@example(Case(2, 1, 1, 1, (9, 9), (5, 5), (2, 2), (2, 2)), 16, "float64")
def test_small_maps_of_channels_by_themselves(case: Case, channels: int, dtype: str) -> None:
    assume(prod(case.size) < 400)
    compare(case._replace(groups=channels, channels=1, filters=1), dtype, "contiguous")


def meets(case: Case, o: tuple[int, ...], t: tuple[int, ...], i: tuple[int, ...]) -> bool:
    axes = zip(o, t, i, case.stride, case.pad, case.dilate, strict=True)
    return all([a * s + b * d - p == c for a, b, c, s, p, d in axes])


@given(cases())
def test_places_that_meet(case: Case) -> None:
    assume(prod(case.out) * prod(case.ksize) * prod(case.size) < 4000)
    g = Geometry(case.size, case.ksize, case.stride, case.pad, case.dilate, case.cover_all)
    found = few_places.meetings(axes_of(g))
    outer, taps, inner = (list(np.ndindex(*of)) for of in (case.out, case.ksize, case.size))
    expected = {
        (a, b, c)
        for a, o in enumerate(outer)
        for b, t in enumerate(taps)
        for c, i in enumerate(inner)
        if meets(case, o, t, i)
    }
    got = list(zip(found.outer, found.taps, found.inner, strict=True))
    assert len(got) == len(expected)
    assert set(got) == expected


@st.composite
def lone_channels(draw: st.DrawFn) -> Case:
    return draw(cases())._replace(channels=1, filters=draw(st.integers(1, 4)))


@given(lone_channels(), st.sampled_from(["float32", "float64"]))
@example(Case(2, 5, 1, 1, (9, 70), (3, 3), pad=(1, 1)), "float32")
@example(Case(1, 3, 1, 2, (3, 140), (1, 5), pad=(0, 2), bias=True), "float32")
@example(Case(2, 3, 1, 1, (141,), (9,), (2,), (4,), (1,)), "float64")
@example(Case(2, 9, 1, 1, (28, 28), (3, 3), (2, 2), (1, 1)), "float32")
@example(Case(2, 3, 1, 2, (9, 37), (7, 4), (1, 2), (3, 2), (1, 2), bias=True), "float32")
@example(Case(1, 4, 1, 1, (8, 9), (5, 5), pad=(1, 4)), "float64")
def test_channels_each_by_itself(case: Case, dtype: str) -> None:
    compare(case, dtype, "contiguous")


@given(cases(), st.sampled_from(["float32", "float64"]))
@example(Case(2, 2, 16, 9, (9, 8), (5, 3), pad=(2, 1), bias=True), "float32")
@example(Case(2, 1, 9, 3, (5, 9, 8), (3, 3, 3), (1,) * 3, (2,) * 3, (2,) * 3), "float32")
def test_filters_that_are_turned(case: Case, dtype: str) -> None:
    """Where the stride is 1 a deconvolution can be a convolution, however large its maps are."""
    case = case._replace(stride=(1,) * len(case.size), cover_all=False)
    assume(min(case.out) > 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "OWN", 1)
        patch.setattr(kernels, "LARGER", 1 << 30)
        compare(case, dtype, "contiguous")


@given(cases(), st.sampled_from([1, 9, 16, 33, 70]), st.sampled_from(["float32", "float64"]))
@example(Case(3, 2, 20, 1, (12, 12), (5, 5), (2, 1), (2, 1), bias=True), 70, "float32")
@example(Case(1, 1, 2, 1, (40, 41), (3, 3), (1, 1), (4, 1), (2, 2), bias=True), 33, "float32")
@example(Case(3, 1, 1, 1, (7, 20, 9), (3, 3, 2), (2, 1, 3), (1,) * 3, (1,) * 3), 16, "float64")
def test_windows_that_are_read_where_they_lie(case: Case, filters: int, dtype: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(direct, "suits", lambda *args: True)
        patch.setattr(direct, "FEW", 0)
        compare(case._replace(filters=filters), dtype, "contiguous")


@given(cases(), st.sampled_from(["float32", "float64"]))
@example(Case(2, 2, 3, 3, (12, 40), (5, 5), (2, 1), (2, 1), bias=True), "float32")
@example(Case(1, 1, 2, 17, (40, 91), (3, 3), (1, 3), (4, 1), (2, 2), bias=True), "float32")
@example(Case(3, 1, 1, 9, (7, 5, 19), (3, 3, 2), (2, 1, 1), (1,) * 3, (1,) * 3), "float64")
def test_rows_of_windows(case: Case, dtype: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(direct, "suits", lambda *args: False)
        patch.setattr(along_rows, "suits", lambda *args: True)
        compare(case, dtype, "contiguous")


@given(threes(), st.sampled_from(["float32", "float64"]))
def test_three_by_three_by_tiles(case: Case, dtype: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winograd, "TILED_CHANNELS", 1)
        patch.setattr(winograd, "TILED_PLACES", 0)
        patch.setattr(winograd, "SUMMED_PLACES", 0)
        compare(case, dtype, "contiguous")


@given(
    *(st.integers(90, 110), st.integers(25, 40), st.integers(1, 3)),
    *(st.integers(1, 12), st.integers(1, 10)),
)
@example(90, 25, 3, 12, 2)
def test_three_by_three_in_parts(
    filters: int, channels: int, images: int, height: int, width: int
) -> None:
    """More filters, channels and tiles than are taken at a time."""
    r = np.random.default_rng(filters)
    x = r.standard_normal((images, channels, height + 2, width + 2))
    g = r.standard_normal((images, filters, height, width))
    W, b = r.standard_normal((filters, channels, 3, 3)), r.standard_normal(filters)
    y = np.empty_like(g)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winograd, "TILES", 13)
        patch.setattr(winograd_filters, "TILES", 7)
        geometry = Geometry(x.shape[2:], (3, 3), (1, 1), (0, 0), (1, 1), False)
        winograd.convolution(geometry, x, W, b, y)
        found = winograd_filters.filter_gradient(geometry, x, g)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    expected = np.einsum("fcij,nchwij->nfhw", W, windows, optimize=True)
    np.testing.assert_allclose(y, expected + b[:, None, None], atol=1e-11)
    expected = np.einsum("nfhw,nchwij->fcij", g, windows, optimize=True)
    np.testing.assert_allclose(found, expected, atol=1e-11)


def compare(case: Case, dtype: str, layout: str) -> None:
    r = np.random.default_rng(0)

    def drawn(*shape: int) -> Any:
        array = LAYOUTS[layout](r.standard_normal(shape).astype(dtype))
        array.flags.writeable = False
        return array

    inner, outer = case.channels * case.groups, case.filters * case.groups
    x, y = drawn(case.images, inner, *case.size), drawn(case.images, outer, *case.out)
    W = drawn(outer, case.channels, *case.ksize)
    b, b_back = ([r.standard_normal(n).astype(dtype)] * case.bias for n in (outer, inner))
    for op, inputs in (
        (Convolution(*case.settings), (x, W, *b)),
        (Deconvolution(*case.settings, size=case.size), (y, W, *b_back)),
        (ConvolutionFilterGradient(*case.settings, ksize=case.ksize), (x, y)),
    ):
        got = KERNELS[type(op)](op, np, *inputs)
        with formulas():
            expected = op.evaluate(*inputs)
        assert got.dtype == dtype
        scale = 50 * np.finfo(dtype).eps * np.abs(expected).max(initial=1)
        np.testing.assert_allclose(got, expected, rtol=0, atol=scale)
        if isinstance(op, Convolution):
            rectified = kernels.convolution.rectified(op, np, *inputs)
            np.testing.assert_array_equal(rectified, np.maximum(got, 0))


@pytest.mark.parametrize(
    "case", [(3, 3, 9, 1), (3, 3, 9, 3), (3, 3, 9, 5), (16, 1, 16, 3), (40, 8, 1, 3)]
)
def test_rectified_results_keep_nan_and_infinities(case: tuple[int, ...]) -> None:
    images, channels, filters, ksize = case
    x = np.random.default_rng(0).standard_normal((images, channels, 12, 12)).astype("f")
    x[0, 0, 0, 0], x[1, 0, 5, 5], x[2, 0, 5, 5] = np.nan, np.inf, -np.inf
    W = np.ones(
        (channels if filters == 1 else filters, 1 if filters == 1 else channels, ksize, ksize), "f"
    )
    op = Convolution(groups=channels if filters == 1 else 1)
    plain, rectified = (
        k(op, np, x, W) for k in (KERNELS[Convolution], kernels.convolution.rectified)
    )
    assert {*np.unique(plain[~np.isfinite(plain)])} >= {np.inf, -np.inf}
    np.testing.assert_array_equal(rectified, np.maximum(plain, 0))


def test_what_lies_in_rooms_is_not_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    def rooms(*args: Any) -> Array:
        room = convolution_plans.scratch(*args)
        room[...] = 1e38
        return room

    monkeypatch.setattr(winograd_filters, "scratch", rooms)
    random = np.random.default_rng(4)
    x, y = (random.standard_normal((6, n, 16, 16)).astype("f") for n in (17, 16))
    with np.errstate(all="raise"):
        geometry = Geometry((16, 16), (3, 3), (1, 1), (1, 1), (1, 1), False)
        found = winograd_filters.filter_gradient(geometry, x, y)
    with formulas():
        gradient = ConvolutionFilterGradient(pad=(1, 1), ksize=(3, 3))
        expected = gradient.evaluate(x, y)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_other_dtypes_are_left_to_the_formula() -> None:
    x, W = np.ones((2, 3, 9, 9), "float16"), np.ones((4, 3, 3, 3), "float16")
    y = np.ones((2, 4, 7, 7), "float16")
    assert kernels.convolution(Convolution(), np, x, W) is NotImplemented
    assert kernels.convolution(Convolution(), np, x, W.astype("f")) is NotImplemented
    assert kernels.deconvolution(Deconvolution(), np, y, W) is NotImplemented
    gradient = ConvolutionFilterGradient(ksize=(3, 3))
    assert kernels.filter_gradient(gradient, np, x, y) is NotImplemented


def test_results_repeat_to_the_bit() -> None:
    r = np.random.default_rng(0)
    x, W = (r.standard_normal(s).astype("f") for s in ((40, 1, 28, 28), (20, 1, 5, 5)))
    y = Convolution().evaluate(x, W)
    for op, inputs in (
        (Convolution(), (x, W)),
        (Deconvolution(size=(28, 28)), (y, W)),
        (ConvolutionFilterGradient(ksize=(5, 5)), (x, y)),
    ):
        first = op.evaluate(*inputs)
        for _ in range(5):
            np.testing.assert_array_equal(op.evaluate(*inputs), first)


@pytest.mark.parametrize(("channels", "filters"), [(1, 4), (1, 16), (16, 16)])
def test_gradients_that_are_sums_of_many_keep_their_digits(channels: int, filters: int) -> None:
    """One after the other, 400,000 of them leave three."""
    x, y = np.full((8, channels, 226, 226), 0.1, "f"), np.full((8, filters, 224, 224), 0.1, "f")
    found = ConvolutionFilterGradient(ksize=(3, 3)).evaluate(x, y)
    expected = np.float64(x[0, 0, 0, 0]) * np.float64(y[0, 0, 0, 0]) * y[:, 0].size
    np.testing.assert_allclose(found, np.full(found.shape, expected), rtol=3e-5)


def test_no_image_is_unfolded() -> None:
    x, W = np.ones((16, 32, 48, 48), "f"), np.ones((32, 32, 3, 3), "f")
    settings = {"pad": 1}
    operations = (
        lambda x: Convolution(**settings).evaluate(x, W),
        lambda x: Deconvolution(**settings, size=(48, 48)).evaluate(x, W),
        lambda x: ConvolutionFilterGradient(**settings, ksize=(3, 3)).evaluate(x, x),
    )
    for operation in operations:
        operation(x[:4])  # loops are compiled, and each thread has room for an image
        tracemalloc.start()
        try:
            operation(x)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 1.2 * x.nbytes  # the result


def test_many_threads_take_no_more_memory_than_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(configuration._shared, "num_threads", 8)
    x, W = np.ones((32, 128, 14, 14), "f"), np.ones((128, 128, 5, 5), "f")
    y = Convolution(pad=2).evaluate(x, W)  # loops are compiled, and threads started
    gradient = ConvolutionFilterGradient(pad=2, ksize=(5, 5))
    gradient.evaluate(x, y)
    arrays = x.nbytes + y.nbytes + W.nbytes
    for operation in (lambda: Convolution(pad=2).evaluate(x, W), lambda: gradient.evaluate(x, y)):
        monkeypatch.setattr(convolution_plans, "_own", threading.local())
        tracemalloc.start()
        try:
            operation()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 2.5 * arrays  # turned filters, and sums or the result


def test_signals_of_many_lengths_leave_no_memory_behind() -> None:
    W = np.ones((16, 2, 3), "f")
    op, gradient = Convolution(), ConvolutionFilterGradient(ksize=(3,))

    def compute(length: int) -> None:
        x = np.ones((1, 2, length), "f")
        gradient.evaluate(x, op.evaluate(x, W))

    compute(40_000)  # loops are compiled, and each thread has room for a signal
    tracemalloc.start()
    try:
        for length in range(30_000, 30_100):
            compute(length)
        left = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert left < 4e6  # 100 lists of windows take 24e6


@given(
    st.tuples(*[st.integers(1, 200)] * 3),
    st.tuples(*[st.integers(1, 30)] * 2),
    st.integers(1, 64),
    st.integers(1, 70),
    st.sampled_from([4, 16]),
    st.booleans(),
)
@example((1, 20, 32), (28, 5), 4, 8, 16, False)
def test_parts_are_enough_for_threads(
    numbers: tuple[int, ...], sizes: tuple[int, int], images: int, threads: int,
    unit: int, summed: bool,
) -> None:  # fmt: skip
    """Unless there are neither filters nor bands to divide."""
    (groups, channels, filters), (size, k) = numbers, sizes
    assume(k <= size)
    g = Geometry((size, size), (k, k), (1, 1), (0, 0), (1, 1), False)
    s = convolution_plans.plan_of(axes_of(g), groups, channels, filters, 48, 1 << 16).sizes
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(configuration._shared, "num_threads", threads)
        ranges, spans = convolution_plans.divided(s, images, unit, summed)
        many = convolution_plans.parts_at_most(images * s.places * groups * filters * s.rows)
    bands = images * -(-s.out_d // s.band)
    for each, count, start in ((ranges, filters, unit), (spans, bands, 1)):
        assert [i for span in each for i in range(*span)] == list(range(count))
        assert all([i % start == 0 for i, _ in each])
    arrays = groups * (s.rows * filters + images * (channels * size**2 + filters * s.places))
    turned = min(many, threads) * s.rows * max([high - low - unit for low, high in ranges])
    assert turned <= arrays or len(ranges) * unit >= filters
    if summed:
        assert (len(spans) - 1) * groups * filters * s.rows <= arrays
    else:
        wanted = min(many, threads, -(-filters // unit) * bands)
        assert len(ranges) * len(spans) >= wanted


HERE = [str(folder) for folder in Path(__file__).parents[:2]]
MACHINE = """
import sys
import numpy as np
sys.path[:0] = {here!r}
import test_convolution_kernels as tests
from backends.numpy_backend.kernels import compiler, emitter
from numba.core.registry import cpu_target
assert emitter.registers(cpu_target.target_context.codegen().magic_tuple()[2]) == {expected}
compiler.SMALL = -1
case = tests.Case(3, 2, 20, 27, (12, 11), (3, 5), (1, 2), (1, 0), bias=True)
tests.compare(case, "float32", "contiguous")
tests.compare(tests.Case(2, 3, 1, 2, (9, 27), (3, 3)), "float32", "contiguous")
tests.compare(tests.Case(2, 3, 4, 5, (9, 49), (3, 3)), "float32", "contiguous")
tests.compare(tests.Case(2, 1, 32, 27, (7, 9), (3, 3)), "float32", "contiguous")
case = tests.Case(9, 1, 32, 27, (3, 2), (3, 3), pad=(1, 1), bias=True)
tests.compare(case, "float32", "contiguous")
case = tests.Case(5, 1, 20, 27, (18, 21), (3, 3), pad=(1, 0), bias=True)
tests.compare(case, "float32", "contiguous")
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


def test_registers_of_others() -> None:
    assert registers("+fp-armv8,+neon") == Registers(128, 32)
    assert registers("+sse2,-avx") == Registers(128, 16)


@given(st.integers(1, 70), st.tuples(*[st.integers(1, 3)] * 3), st.booleans(), st.integers(0, 99))
def test_filters_are_transformed_and_back(
    outer: int, sizes: tuple[int, int, int], turned: bool, seed: int
) -> None:
    groups, channels, taps = sizes
    G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
    w = np.random.default_rng(seed).standard_normal((groups, outer, channels, taps, 3, 3))
    blocks, place = -(-outer // winograd.FILTERS), taps * channels * winograd.FILTERS + 3
    u, room = np.empty((groups, blocks, 16, place)), np.empty((1, 9 * winograd.FILTERS))
    given = np.ascontiguousarray(w.swapaxes(1, 2)) if turned else w
    each = 9 * taps
    steps = (each, outer * each, 1) if turned else (channels * each, each, 0)
    known = (u.reshape(-1), room, place, outer, channels, taps, *steps)
    units = groups * blocks * taps * channels
    winograd.transform_filters(given.reshape(-1), *known, 0, 0, units)
    expected = G @ (np.flip(w, (-3, -2, -1)) if turned else w) @ G.T
    found = u[..., :-3].reshape(groups, blocks, 16, taps, channels, -1)
    found = found.transpose(0, 1, 5, 4, 3, 2).reshape(groups, -1, channels, taps, 4, 4)[:, :outer]
    np.testing.assert_allclose(found, expected, atol=1e-12)

    sums = np.zeros((16, outer + 2, channels + 3))  # with room behind filters and channels
    sums[:, :outer, :channels] = found[0, :, :, 0].reshape(outer, channels, 16).transpose(2, 0, 1)
    back = np.empty((outer * channels, 9))
    winograd_filters.filters_back(sums, back, channels, 0, outer)
    expected = G.T @ expected[0, :, :, 0] @ G
    np.testing.assert_allclose(back.reshape(expected.shape), expected, atol=1e-12)
