"""The cross entropy of maps by loops: what it is by its definition, in float64."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_kernels import taking
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import core
import core.functions as F
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.loss import alignments, sigmoid, softmax_of_maps
from core.errors import OutOfRange
from core.registry.threads import using_threads

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

BLOCK = softmax_of_maps.BLOCK
SIZES = [(1, 1), (15, 17), (1, BLOCK), (BLOCK + 1, 1), (5, BLOCK - 1), (2, 3, 50), ()]


def defined(x, t, each, reduce, normalize, smoothing):
    """The loss and its gradient, the cotangent being 1."""
    x, counted = np.moveaxis(x.astype("d"), 1, -1), t != -1
    x = np.where(counted[..., None], x, 0)
    logs = x - x.max(-1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(-1, keepdims=True))
    classes = x.shape[-1]
    meant = (np.arange(classes) == t[..., None]) * (1 - smoothing) + smoothing / classes
    meant *= counted[..., None] * (1.0 if each is None else each)
    if reduce == "mean":
        meant /= max(counted.sum(), 1) if normalize else len(t)
    loss = -(meant * logs).sum(-1)
    slope = np.moveaxis(np.exp(logs) * meant.sum(-1, keepdims=True) - meant, -1, 1)
    return loss.sum() if reduce == "mean" else loss, slope


@given(
    st.tuples(st.integers(1, 3), st.integers(1, 9), st.sampled_from(SIZES)),
    st.booleans(),
    st.sampled_from(["mean", "no"]),
    st.booleans(),
    st.integers(0, 2**16),
)
def test_the_cross_entropy_of_maps_and_rows(shape, weighted, reduce, normalize, seed):
    images, classes, size = shape
    r = np.random.default_rng(seed)
    t = r.integers(-1, classes, (images, *size)).astype("i")
    x = r.normal(0, 5, (images, classes, *size)).astype("f")
    x[np.broadcast_to(t[:, None] == -1, x.shape) & (r.random(x.shape) < 0.2)] = np.nan
    each = np.linspace(0.5, 2, classes, dtype="f") if weighted else None
    smoothing = (0.0, 0.3)[seed % 2]
    settings = {"class_weight": each, "reduce": reduce, "normalize": normalize}
    settings["label_smoothing"] = smoothing
    v = core.Variable(x)
    with taking(1), using_threads(1 + seed % 3):
        y = F.softmax_cross_entropy(v, t, **settings)
        y.grad = np.ones_like(y.array)
        y.backward()
    expected = defined(x, t, each, reduce, normalize, smoothing)
    for found, precise in zip((y.array, v.grad), expected, strict=True):
        np.testing.assert_allclose(found, precise, rtol=2e-5, atol=2e-6)


@given(
    st.lists(st.integers(0, 7), max_size=3),
    st.sampled_from(["float32", "float64"]),
    st.sampled_from(["int8", "int32", "int64"]),
    st.sampled_from(["mean", "no"]),
    st.booleans(),
    st.integers(0, 2**16),
)
def test_the_cross_entropy_of_sigmoids(shape, dtype, kind, reduce, normalize, seed):
    r = np.random.default_rng(seed)
    t = r.integers(-1, 2, shape).astype(kind)
    x = np.asarray(r.choice([0.3, -2.0, 9.0, -40.0, 200.0, -1e4], shape), dtype)
    x[(t == -1) & (r.random(shape) < 0.3)] = np.nan
    v = core.Variable(x)
    with taking(1), using_threads(1 + seed % 3), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sigmoid, "LEAST", 20)
        y = F.sigmoid_cross_entropy(v, t, normalize, reduce)
        y.grad = np.ones_like(y.array)
        y.backward()
    share = np.where(t == -1, 0.0, 1.0)
    if reduce == "mean":
        share /= max(np.sum(t != -1), 1) if normalize else max(shape[0] if shape else 1, 1)
    exact = np.where(t == -1, 0, x).astype("d")
    loss = share * np.logaddexp(0, np.where(t == 1, -exact, exact))
    slope = share * (special.expit(exact) - t)
    assert y.dtype == v.grad.dtype == dtype
    near = 2e-6 if dtype == "float32" else 1e-12
    expected, least = loss.sum() if reduce == "mean" else loss, np.finfo(dtype).tiny
    np.testing.assert_allclose(y.array, expected, rtol=near, atol=least)
    np.testing.assert_allclose(v.grad, slope, rtol=near, atol=near * share.max(initial=0))


@pytest.mark.parametrize("reduce", ["mean", "no"])
def test_gradients_of_cross_entropies_of_sigmoids_are_loops(reduce, monkeypatch):
    """Also where the loss has one element."""
    name, module = ("_slopes", sigmoid) if reduce == "mean" else ("gradient", sigmoid.formulas)
    original, asked = getattr(module, name), []

    def spy(*args):
        asked.append(args)
        return original(*args)

    monkeypatch.setattr(module, name, spy)
    x = core.Variable(np.ones((300, 300), "f"))
    y = F.sigmoid_cross_entropy(x, np.ones(x.shape, "i"), reduce=reduce)
    y.grad = np.ones_like(y.array)
    y.backward()
    assert len(asked) == 1


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 2)])
def test_gradients_of_ignored_labels_are_0_whatever_comes(shape, smoothing):
    x, t = core.Variable(np.ones(shape, "f")), np.ones((3, *shape[2:]), "i")
    t[1] = -1
    y = F.softmax_cross_entropy(x, t, reduce="no", label_smoothing=smoothing)
    y.grad = np.where(t == -1, np.nan, np.ones_like(y.array))
    y.backward()
    assert (x.grad[1] == 0).all() and (x.grad[::2] != 0).all()


@pytest.mark.parametrize("label", [2, -2, 2**40])
def test_a_label_of_no_class_is_told_of(label):
    t = np.zeros((40, 50), int)
    t[30, 7] = label
    with pytest.raises(OutOfRange, match=rf"got {label} at \(30, 7\)"):
        F.sigmoid_cross_entropy(np.zeros(t.shape, "f"), t)


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
@pytest.mark.parametrize("shape", [(3, 20), (40, 70)])
def test_axes_of_one_element_behind_that_of_a_softmax_make_no_difference(function, shape):
    x = np.random.default_rng(0).normal(0, 3, shape).astype("f")
    v, column = core.Variable(x), core.Variable(x[..., None, None])
    plain = function(v, axis=1)
    for axis in (1, -3):
        column.cleargrad()
        y = function(column, axis=axis)
        for each in (plain, y):
            each.grad = np.cos(each.array)
            each.backward()
        assert y.array.tobytes() == plain.array.tobytes()
        assert column.grad.tobytes() == v.grad.tobytes()
        v.cleargrad()


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
@given(
    st.sampled_from([(20, 8), (1, 300), (3, 7, 40), (2, 5, 3, 90), (600, 30)]),
    st.integers(-2, 2),
    st.sampled_from(["float32", "float64"]),
    st.integers(1, 2),
    st.sampled_from([(), (np.nan,), (np.inf,), (-np.inf, -np.inf), (3e38, -3e38)]),
)
def test_softmax_across_other_axes_is_that_of_rows(function, shape, axis, dtype, threads, odd):
    axis = axis % (len(shape) - 1)
    x = np.random.default_rng(0).normal(0, 3, shape).astype(dtype)
    x.reshape(-1)[: len(odd)] = odd
    rows = core.Variable(np.ascontiguousarray(np.moveaxis(x, axis, -1)))
    v, w = core.Variable(x), core.Variable(np.asfortranarray(x))
    g = np.random.default_rng(1).normal(0, 1, shape).astype(dtype)
    with core.using_threads(threads), np.errstate(all="ignore"):
        across, along = function(v, axis=axis), function(rows, axis=-1)
        again = function(w, axis=axis)
        across.grad, again.grad, along.grad = g, np.asfortranarray(g), np.moveaxis(g, axis, -1)
        core.backward([across, again, along])
    near = 1e-5 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(np.moveaxis(across.array, axis, -1), along.array, near, near)
    np.testing.assert_allclose(np.moveaxis(v.grad, axis, -1), rows.grad, near, 20 * near)
    assert again.array.tobytes() == across.array.tobytes()
    np.testing.assert_array_equal(w.grad, v.grad)


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
@pytest.mark.parametrize("shape", [(3, 5, 600), (40, 90)])
def test_softmax_across_loses_no_digits_and_shows_what_is_no_number(function, shape):
    x = np.random.default_rng(0).integers(-40, 40, shape).astype("f") / 8
    axis = len(shape) - 2
    y = function(x, axis=axis).array
    np.testing.assert_array_equal(function(x + 2**20, axis=axis).array, y)
    for place in (0, 1, shape[axis] - 1):
        odd = x.copy()
        odd[..., place, 7] = np.nan
        found = function(odd, axis=axis).array
        assert np.isnan(found[..., 7]).all() and np.isnan(found).sum() == found[..., 7].size


def test_a_wrong_label_is_told_of_as_before():
    x, t = np.zeros((2, 3, 40, 40), "f"), np.zeros((2, 40, 40), "i")
    t[1, 3, 4] = 3
    with taking(1), pytest.raises(OutOfRange, match=r"got 3 at \(1, 3, 4\)"):
        F.softmax_cross_entropy(x, t)


LOSSES = {
    "softmax_cross_entropy": lambda x: F.softmax_cross_entropy(x, np.arange(40) % 60),
    "sigmoid_cross_entropy": lambda x: F.sigmoid_cross_entropy(
        x, np.arange(2400).reshape(x.shape) % 2
    ),
    "logsumexp": F.logsumexp,
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_that_is_part_of_a_sum_has_the_gradient_of_its_loop(name):
    """NumPy's arithmetic makes scalars of gradients without dimensions, which loops take too."""
    x = core.Variable(np.random.default_rng(0).normal(0, 3, (40, 60)).astype("f"))
    with taking(1):
        alone, part = (core.grad([y], [x])[0] for y in (LOSSES[name](x), LOSSES[name](x) * 1.0))
    assert alone.array.tobytes() == part.array.tobytes()


@given(
    shape=st.tuples(
        st.integers(1, 9), st.integers(1, 4), st.sampled_from([2, 3, 19]), st.integers(0, 9)
    ),
    dtype=st.sampled_from(["float32", "float64"]),
    reduce=st.sampled_from(["mean", "no"]),
    special=st.sampled_from([None, -np.inf, -3e4, np.nan]),
    seed=st.integers(0, 2**16),
)
def test_alignments_of_labels_are_those_of_the_formula(shape, dtype, reduce, special, seed):
    steps, n, classes, most = shape
    r = np.random.default_rng(seed)
    x = r.normal(0, 3, (steps, n, classes)).astype(dtype)
    if special is not None:
        x[r.random(x.shape) < 0.1] = special
    blank = int(r.integers(classes))
    t = (blank + r.integers(1, classes, (n, most))) % classes
    lengths = r.integers(0, steps + 1, n), r.integers(0, most + 1, n)
    t[np.arange(most) >= lengths[1][:, None]] = 99

    def computed():
        v = core.Variable(x)
        y = F.connectionist_temporal_classification(v, t, blank, *lengths, reduce)
        y.grad = np.linspace(1, 2, y.size, dtype=dtype).reshape(y.shape)
        y.backward()
        return y.array, v.grad

    with np.errstate(invalid="ignore"):
        with taking(1), using_threads(1 + seed % 3), pytest.MonkeyPatch.context() as patch:
            patch.setattr(alignments, "LEAST", 40)
            found = computed()
        with taking(10**9):
            expected = computed()
    near = 2e-5 if dtype == "float32" else 1e-12
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=near, atol=near)


@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
def test_alignments_whose_sizes_do_not_fit_are_left_to_the_formula(wrong):
    """Where checks are off nobody else has looked."""
    arrays = [np.zeros((40, 8, 9), "f"), *np.ones((3, 8, 1), "i")]
    arrays[2:] = [a[:, 0] for a in arrays[2:]]
    arrays[wrong] = arrays[wrong][:, :4] if wrong == 0 else arrays[wrong][:4]
    with taking(1):
        assert alignments.ctc(None, np, *arrays) is NotImplemented
