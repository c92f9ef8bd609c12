"""Compiled kernels of layers on arrays of many shapes and layouts, beside their formulas."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiled_kernels import NUMPY, call_small, taking
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled import activation
from backends.numpy_backend.kernels.compiled.loss import softmax
from backends.numpy_backend.kernels.compiled.normalization import batch as normalization
from backends.numpy_backend.kernels.compiled.normalization import columns, few_statistics
from backends.numpy_backend.kernels.compiled.pooling import windows as pooling
from core.registry import configuration
from core.testing.tolerances import assert_near, tolerance
from plugins.functions.attention.attention import Attention

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

NOTHING_SUITS = 1 << 62


@pytest.fixture(autouse=True, scope="module")
def many_parts() -> Any:
    """Three threads, and several parts of small arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(configuration._shared, "num_threads", 3)
        for module in (activation, columns, normalization, pooling, softmax):
            patch.setattr(module, "LEAST", 16)
        with taking(1):
            yield


def laid(values: Any, layout: str) -> Any:
    """The same values, lying otherwise in memory."""
    if not values.ndim:
        return values
    if layout == "strided":
        wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        wide[..., ::2] = values
        return wide[..., ::2]
    if layout == "transposed":
        return np.ascontiguousarray(values.T).T
    if layout == "read-only":
        values = values.copy()
        values.setflags(write=False)
    return values


LAYOUTS = st.sampled_from(["contiguous", "strided", "transposed", "read-only"])
FLOATS = st.sampled_from(["float32", "float64"])
SIDES = st.integers(1, 40)


@st.composite
def images(draw: Any, ndim: int = 4) -> Any:
    """Arrays (n, c, ...) with many equal elements."""
    shape = (
        draw(st.integers(1, 5)),
        draw(st.integers(1, 6)),
        *[draw(SIDES) for _ in range(ndim - 2)],
    )
    return values(draw, shape)


def values(draw: Any, shape: tuple[int, ...]) -> Any:
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    x = np.round(generator.standard_normal(shape) * 3, 1).astype(draw(FLOATS))
    return laid(x, draw(LAYOUTS))


def results(function: Callable[..., Any], inputs: list[Any], small: int) -> list[Any]:
    """Outputs and gradients, with the kernels that take arrays of so many elements."""
    with pytest.MonkeyPatch.context() as patch:
        call_small(patch, small)
        given_ = [core.Variable(a) if a.dtype.kind == "f" else a for a in inputs]
        y = function(*given_)
        y.grad = laid(np.cos(np.arange(y.size)).reshape(y.shape).astype(y.dtype), "transposed")
        y.backward()
    return [y.array, *[v.grad for v in given_ if isinstance(v, core.Variable)]]


def compare(function: Callable[..., Any], *inputs: Any, kind: str = "reduction") -> None:
    before = [a.copy() for a in inputs]
    actual = results(function, list(inputs), 1)
    expected = results(function, list(inputs), NOTHING_SUITS)
    again = results(function, list(inputs), 1)
    for i, (a, e, repeated) in enumerate(zip(actual, expected, again, strict=True)):
        assert a.dtype == e.dtype
        assert_near(a, e, tolerance(kind, str(e.dtype)), f"result {i}")
        np.testing.assert_array_equal(a, repeated)
    for a, b in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(a, b)


@settings(max_examples=15)
@given(images(), st.sampled_from([2, 3, (2, 1)]), st.sampled_from([None, 1, 2]), st.booleans())
def test_max_pooling(x: Any, ksize: Any, stride: Any, cover_all: bool) -> None:
    if min(x.shape[2:]) < 3:
        x = np.tile(x, (1, 1, 3, 3))
    compare(lambda v: F.max_pooling_2d(v, ksize, stride, 0, cover_all), x)
    compare(lambda v: F.max_pooling_2d(v, ksize, stride, 1, cover_all), x)


@settings(max_examples=10)
@given(images(ndim=4), st.data())
def test_maxima_and_their_places_are_those_of_the_formula(x: Any, data: Any) -> None:
    x = np.array(np.tile(x, (1, 1, 2, 2)))
    spots = data.draw(st.lists(st.integers(0, x.size - 1), max_size=8))
    x[x < data.draw(st.sampled_from([-np.inf, 0, 9]))] = -np.inf  # as padding is
    x.reshape(-1)[spots] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    found = []
    for small in (1, NOTHING_SUITS):
        with pytest.MonkeyPatch.context() as patch:
            call_small(patch, small)
            found += [F.max_pooling_2d(x, k, s, p, return_indices=True) for k, s, p in SETTINGS]
    half = len(SETTINGS)
    for (y, places), (expected, expected_places) in zip(found[:half], found[half:], strict=True):
        np.testing.assert_array_equal(y.array, expected.array)
        np.testing.assert_array_equal(places, expected_places)


SETTINGS = [(2, 2, 0), (2, 2, 1), (2, 1, 0), (3, 2, 1), ((2, 3), (3, 1), (0, 2))]


@settings(max_examples=15)
@given(images(), st.sampled_from([2, 3, (2, 1)]), st.sampled_from([None, 1, 2]))
def test_average_pooling(x: Any, ksize: Any, stride: Any) -> None:
    if min(x.shape[2:]) < 3:
        x = np.tile(x, (1, 1, 3, 3))
    compare(lambda v: F.average_pooling_2d(v, ksize, stride), x)
    compare(lambda v: F.average_pooling_2d(v, ksize, stride, 1), x)
    with pytest.MonkeyPatch.context() as patch:
        for many in (1, pooling.MANY):
            patch.setattr(pooling, "MANY", many)
            compare(lambda v: F.average_pooling_2d(v, x.shape[2:]), x)


@pytest.mark.parametrize("ndim", [3, 5])
def test_pooling_over_other_numbers_of_axes(ndim: int) -> None:
    x = np.random.RandomState(0).standard_normal((2, 3, *[7] * (ndim - 2))).astype("f")
    for ksize, stride in ((2, None), (3, 2)):
        compare(lambda v, k=ksize, s=stride: F.max_pooling_nd(v, k, s, 1), x)
        compare(lambda v, k=ksize, s=stride: F.average_pooling_nd(v, k, s, 1), x)


def test_places_of_windows_are_kept_for_a_few_large_images() -> None:
    """They are as large as images, of which each may have a size of its own."""
    known = []
    for rows in range(400, 420):
        w = pooling._windows((rows, 500), (3, 2), (2, 1), (0, 0), False)
        at = np.arange(rows * 500).reshape(rows, 500)
        np.testing.assert_array_equal(w.starts, at[: rows - 2 : 2, :499].ravel())
        np.testing.assert_array_equal(w.steps, at[:3, :2].ravel())
        known.append(weakref.ref(w.starts))
        del w
    assert sum([each() is not None for each in known]) <= 4


def channel_values(x: Any) -> list[Any]:
    generator = np.random.default_rng(1)
    return [generator.uniform(0.5, 2, x.shape[1]).astype(x.dtype) for _ in range(4)]


@pytest.fixture(params=["in one loop", "from rows"])
def normalized(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few elements, and as if they were not few."""
    if request.param == "from rows":
        monkeypatch.setattr(few_statistics, "MOST", 0)


@settings(max_examples=10)
@given(st.sampled_from([2, 3, 4]).flatmap(images))
def test_batch_normalization(normalized: None, x: Any) -> None:
    compare(lambda *a: F.batch_normalization(*a, eps=0.1), x, *channel_values(x)[:2])


@settings(max_examples=10)
@given(st.sampled_from([2, 3, 4]).flatmap(images))
def test_batch_normalization_with_channels_last(x: Any) -> None:
    parameters = channel_values(np.moveaxis(x, -1, 1))[:2]
    axis = tuple(range(x.ndim - 1))
    compare(lambda *a: F.batch_normalization(*a, eps=0.1, axis=axis), x, *parameters)


def test_statistics_of_values_far_from_zero() -> None:
    x = (np.random.RandomState(0).standard_normal((8, 3, 40, 40)) + 1e4).astype("f")
    one, zero = np.ones(3, "f"), np.zeros(3, "f")
    y = F.batch_normalization(x, one, zero).array
    exact = x.astype("d") - x.mean((0, 2, 3), dtype="d", keepdims=True)
    exact /= exact.std((0, 2, 3), keepdims=True)
    np.testing.assert_allclose(y, exact, atol=5e-3)


@settings(max_examples=10)
@given(st.sampled_from([2, 3, 4]).flatmap(images))
def test_fixed_batch_normalization(normalized: None, x: Any) -> None:
    compare(F.fixed_batch_normalization, x, *channel_values(x))


@settings(max_examples=15)
@given(st.sampled_from([2, 3]).flatmap(images), st.sampled_from([F.softmax, F.log_softmax]))
def test_softmax(x: Any, function: Any) -> None:
    compare(lambda v: function(v, axis=-1), x)
    compare(lambda v: function(v, axis=1), x)


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax_of_what_is_not_finite(function: Any, dtype: str) -> None:
    x = np.zeros((8, 40), dtype)
    x[0, :20], x[1], x[2, 3], x[3, 3], x[4, 5] = -np.inf, -np.inf, np.inf, np.nan, -np.nan
    x[5] = np.linspace(-1000, 1000, 40)
    x[6, :20] = -95
    with np.errstate(all="ignore"):
        compare(lambda v: function(v, axis=1), x)
        kept = results(lambda v: F.softmax(v, axis=1), [x], 1)[0]
    assert not kept[0, :20].any()


@settings(max_examples=15)
@given(images(3).map(lambda x: x.reshape(-1, x.shape[-1])), st.data())
def test_softmax_cross_entropy(x: Any, data: Any) -> None:
    label = st.integers(-1, x.shape[1] - 1)
    t = np.array([data.draw(label) for _ in x], data.draw(st.sampled_from(["int32", "int64"])))
    ignored = data.draw(st.sampled_from([-1, 0, 255]))
    if ignored == 255:
        t[t == -1] = 255
    else:
        t[t == -1] = ignored
    for normalize in (True, False):
        for reduce in ("mean", "no"):
            compare(
                lambda v, n=normalize, r=reduce: F.softmax_cross_entropy(
                    v, t, normalize=n, ignore_label=ignored, reduce=r
                ),
                x,
            )


def test_labels_outside_are_refused_by_the_formula() -> None:
    x = np.zeros((600, 10), "f")
    for label in (-2, 10):
        t = np.zeros(600, "int32")
        t[599] = label
        with pytest.raises(core.errors.OutOfRange, match="SoftmaxCrossEntropy"):
            F.softmax_cross_entropy(x, t)


@settings(max_examples=15)
@given(st.sampled_from([2, 3]).flatmap(images), st.integers(1, 2))
def test_layer_normalization(x: Any, axes: int) -> None:
    axes = min(axes, x.ndim - 1)
    generator = np.random.default_rng(1)
    gamma, beta = generator.uniform(0.5, 2, (2, *x.shape[-axes:])).astype(x.dtype)
    compare(lambda *a: F.layer_normalization(*a, eps=0.1), x, gamma, beta)


@settings(max_examples=10)
@given(st.sampled_from([2, 3, 4]).flatmap(images))
def test_group_normalization(normalized: None, x: Any) -> None:
    for groups in (1, x.shape[1]):
        gamma, beta = channel_values(x)[:2]
        compare(
            lambda *a, g=groups: F.group_normalization(a[0], g, *a[1:], eps=0.1), x, gamma, beta
        )


SMOOTH = [
    F.sigmoid,
    F.elu,
    lambda x: F.elu(x, 0.5),
    F.gelu,
    F.silu,
    F.softplus,
    lambda x: F.softplus(x, 2.0),
]
PIECEWISE = [
    F.relu,
    F.leaky_relu,
    lambda x: F.leaky_relu(x, 0.01),
    lambda x: F.clipped_relu(x, 1.0),
    F.hard_sigmoid,
    lambda x: F.clip(x, -1.0, 0.5),
    lambda x: F.clip(x, None, 0.0),
]


@settings(max_examples=15)
@given(st.sampled_from([2, 3]).flatmap(images), st.sampled_from([1, 10, 40]))
def test_activations(x: Any, scale: int) -> None:
    for function in SMOOTH:
        compare(function, x * x.dtype.type(scale), kind="elementwise")
    for function in PIECEWISE:
        compare(function, x, kind="exact")


OF_EACH = [F.cosh, F.expm1, F.log1p, F.log2, F.log10, F.sinh]
OF_EACH += [F.arccos, F.arccosh, F.arcsin, F.arcsinh, F.arctan, F.arctanh, F.tan]


@settings(max_examples=15)
@given(st.sampled_from([2, 3]).flatmap(images), st.sampled_from([1, 10, 200]))
def test_functions_of_each_element(x: Any, scale: int) -> None:
    with np.errstate(all="ignore"):  # some overflow, and half of the logarithms are NaN
        for function in OF_EACH:
            compare(function, x * x.dtype.type(scale), kind="elementwise")


@pytest.mark.parametrize("function", SMOOTH + PIECEWISE + OF_EACH)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations_of_what_is_not_finite(function: Any, dtype: str) -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.0, 1e30, -1e30, 1e-30] * 40, dtype)
    with np.errstate(all="ignore"):
        compare(function, x, kind="elementwise")


@settings(max_examples=10)
@given(images(ndim=4), st.data())
def test_images_sampled_within_and_beyond_them(x: Any, data: Any) -> None:
    places = st.sampled_from([-1.5, -1.0, -0.3, 0.0, 0.8, 1.0, 1.2, np.nan, np.inf, -np.inf])
    shape = len(x), 2, 2, 3
    size = 12 * len(x)
    grid = np.array(data.draw(st.lists(places, min_size=size, max_size=size)), x.dtype)
    with np.errstate(invalid="ignore"):
        compare(F.spatial_transformer_sampler, x, grid.reshape(shape))


def test_small_calls_do_not_ask_kernels_that_say_so() -> None:
    asked = []

    def kernel(f: Any, xp: Any, x: Any) -> Any:
        asked.append(x.size)
        return NotImplemented

    def gradient(f: Any, g: Any, needs_grad: int) -> Any:
        asked.append(-g.size)
        return NotImplemented

    kernel.least, gradient.least = 10, 11
    NUMPY.kernels[Cube], NUMPY.gradient_kernels[Cube] = kernel, gradient
    for size in (9, 10, 11):
        x = core.Variable(np.full(size, 2.0))
        F.sum(Cube().apply((x,))[0]).backward()
        np.testing.assert_array_equal(x.grad, np.full(size, 12.0))
    del NUMPY.kernels[Cube], NUMPY.gradient_kernels[Cube]
    assert asked == [10, 11, -11]


class Cube(core.Elementwise):
    """x^3."""

    inline = True
    domain = core.Domain(x=core.real(-2, 2))

    def compute(self, xp, x):
        return x * x * x

    def gradient(self, xp, g, x):
        return g * (3.0 * x * x)


def test_inputs_without_gradient_get_none() -> None:
    x = core.Variable(np.ones((4, 8, 16, 8), "f"), requires_grad=False)
    beside = functools.partial(F.batch_normalization, axis=(0, 2, 3))
    last = functools.partial(F.batch_normalization, axis=(0, 1, 2))
    for normalize in (beside, last, lambda x, *a: F.group_normalization(x, 2, *a)):
        gamma, beta = core.Variable(np.ones(8, "f")), core.Variable(np.zeros(8, "f"))
        F.sum(normalize(x, gamma, beta)).backward()
        assert x.grad is None
        np.testing.assert_array_equal(beta.grad, np.full(8, 512, "f"))


def test_without_checks_what_has_another_size_is_left_to_the_formula() -> None:
    x = np.ones((8, 32, 28, 28), "f")
    few, many, W = np.ones(3, "f"), np.ones(5000, "f"), np.ones((32, 32, 3, 3), "f")
    c, rows = np.ones(32, "f"), np.ones((300, 32), "f")
    heads, longer, wider = (np.ones((2, *s), "f") for s in ((40, 16), (90, 16), (40, 17)))
    with core.using_config("type_check", False):
        for refused in (
            lambda: F.convolution_2d(x, W, few),
            lambda: F.convolution_2d(x, W, many),
            lambda: F.convolution_2d(x, W[:, :16]),
            lambda: F.deconvolution_2d(x, W[:16]),
            lambda: F.deconvolution_2d(x, W, many),
            lambda: F.batch_normalization(x, c, many),
            lambda: F.fixed_batch_normalization(x, few, few, few, few),
            lambda: F.fixed_batch_normalization(x, c, c, few, many),
            lambda: F.layer_normalization(rows, c, few),
            lambda: F.layer_normalization(rows, c[:16], c),
            lambda: F.group_normalization(x, 4, c, c[:16]),
            lambda: F.softmax_cross_entropy(rows, np.zeros(3000, "i")),
            lambda: Attention.call(heads, heads, longer),
            lambda: Attention.call(heads, wider, heads),
        ):
            with pytest.raises((ValueError, IndexError), match=r"broadcast|mismatch|reshape"):
                refused()


@given(
    st.sampled_from([F.relu, F.leaky_relu, F.silu]),
    st.permutations(range(3)),
    st.lists(st.sampled_from([1, 2, -1]), min_size=3, max_size=3),
    st.lists(st.integers(1, 4), min_size=3, max_size=3),
    st.booleans(),
)
def test_activations_lie_in_memory_as_what_they_are_of(
    function: Any, order: list[int], steps: list[int], shape: list[int], alike: bool
) -> None:
    """Nothing is copied that lies without gaps, and values are right however they lie."""
    drawn = np.random.default_rng(0)
    places = tuple([slice(None, None, step) for step in steps])
    x, g = [drawn.normal(size=shape).astype("f").transpose(order)[places] for _ in range(2)]
    if not alike:
        g = np.ascontiguousarray(g)
    found = []
    for one, other in ((x, g), (np.ascontiguousarray(x), np.ascontiguousarray(g))):
        v = core.Variable(one)
        y = function(v)
        y.grad = other
        y.backward()
        found.append((y.array, v.grad))
    (y, gx), expected = found
    np.testing.assert_array_equal(y, expected[0])
    np.testing.assert_array_equal(gx, expected[1])
    if steps == [1, 1, 1]:
        assert y.strides == np.empty_like(x).strides


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x, *scales: F.group_normalization(x, 2, *scales), [(8, 4, 40, 40), (4,), (4,)]),
        (F.lstm, [(40, 60), (40, 240)]),
        (F.scaled_dot_product_attention, [(2, 4, 40, 16)] * 3),
    ],
)
def test_arrays_in_files_are_read_like_others(function: Any, shapes: Any, threads: int) -> None:
    """Loops themselves take no subclasses."""
    r = np.random.default_rng(0)
    arrays = [r.random(shape, np.float32) for shape in shapes]
    with core.using_config("num_threads", threads):
        found = []
        for kind in (np.ndarray, np.memmap):
            xs = [core.Variable(a.view(kind)) for a in arrays]
            ys = function(*xs)
            ys = ys if isinstance(ys, tuple) else (ys,)
            found.append([*ys, *core.grad(ys, xs, [np.ones_like(y.array) for y in ys])])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a.array, b.array)
