"""Losses of label sequences against sums over everything they could have been."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from references.loss import connectionist_temporal_classification as every_alignment
from scipy import special

import core
import core.functions as F
from core import Variable
from core.errors import InvalidType, OutOfRange
from core.testing.gradient_check import check_backward, check_double_backward

ctc = F.connectionist_temporal_classification

# -- connectionist temporal classification ---------------------------------------------------------


@given(
    st.integers(1, 4), st.integers(2, 3), st.integers(0, 3), st.integers(0, 2), st.integers(0, 99)
)
def test_ctc_against_every_alignment(steps, symbols, size, blank, seed):
    blank %= symbols
    random = np.random.default_rng(seed)
    x = random.normal(size=(steps, 3, symbols))
    labels = [k for k in range(symbols) if k != blank]
    t = random.choice(labels, (3, size))
    lengths = random.integers(0, steps + 1, 3), random.integers(0, size + 1, 3)
    loss = ctc(list(x), t, blank, *lengths, reduce="no")
    np.testing.assert_allclose(loss.array, every_alignment(x, t, *lengths, blank, "no"))
    np.testing.assert_allclose(ctc(x, t, blank, *lengths).array, loss.array.mean())
    whole = every_alignment(x, t, [steps] * 3, [size] * 3, blank, "no")
    np.testing.assert_allclose(ctc(x, t, blank, reduce="no").array, whole)


@pytest.mark.parametrize("reduce", ["mean", "no"])
def test_ctc_gradients_for_a_list_of_steps(reduce):
    random = np.random.default_rng(1)
    x, t = tuple(random.normal(size=(4, 2, 3))), np.array([[2, 2], [1, 0]])
    lengths = np.array([4, 3]), np.array([2, 1])

    def loss(*x):
        return ctc(x, t, 0, *lengths, reduce=reduce)

    g = random.normal(size=loss(*x).shape)
    check_backward(loss, x, g)
    check_double_backward(loss, x, g, tuple(random.normal(size=(4, 2, 3))))


@pytest.mark.parametrize(
    ("dtype", "cost"), [("float16", 1e4), ("float32", 1e10), ("float64", 1e10)]
)
def test_ctc_of_impossible_alignments(dtype, cost):
    x = Variable(np.random.default_rng(0).normal(size=(2, 2, 3)).astype(dtype))
    loss = ctc(x, np.array([[1, 1], [1, 2]]), 0, reduce="no")  # 1 1 needs a blank between
    assert loss.array[0] == cost
    assert 0 < loss.array[1] < 10
    F.sum(loss).backward(enable_double_backprop=True)
    assert not x.grad[:, 0].any()
    assert x.grad[:, 1].all()
    g = x.grad_var
    x.cleargrad()
    F.sum(g * g).backward()
    assert np.isfinite(x.grad).all()
    assert not x.grad[:, 0].any()


@pytest.mark.parametrize("name", ["numpy", "strict"])
@pytest.mark.parametrize("padding", [-1, 0, 7])
def test_ctc_does_not_look_at_padding(padding, name):
    place = core.backend.get(name)
    x = Variable(place.asarray(np.random.default_rng(0).normal(size=(3, 1, 3))))
    size = place.asarray(np.array([1]))
    loss = ctc(x, place.asarray(np.array([[2, padding]])), 0, label_length=size)
    loss.backward()
    other = Variable(x.array)
    ctc(other, place.asarray(np.array([[2]])), 0).backward()
    found, expected = map(core.backend.to_host, (x.grad, other.grad))
    np.testing.assert_array_equal(found, expected)


def test_ctc_of_huge_scores_and_forbidden_symbols():
    x = np.zeros((3, 1, 3), "f")
    x[:, 0] = [[0, 9e4, -9e4], [0, -np.inf, -np.inf], [0, -9e4, 9e4]]
    v = Variable(x)
    loss = ctc(v, np.array([[1, 2]]), 0)
    assert loss.array == 0
    loss.backward()
    assert not v.grad.any()
    loss = ctc(x, np.array([[2, 1]]), 0)
    np.testing.assert_allclose(loss.array, 3.6e5)
    assert ctc(x[:2], np.array([[1, 2]]), 0).array > 9e4


def test_ctc_of_long_sequences_does_not_vanish():
    steps = 400
    x = Variable(np.zeros((steps, 1, 2), "f"))
    loss = ctc(x, np.array([[1]]), 0)
    # the alignments 0*1+0* are as many as pairs of a beginning and an end
    np.testing.assert_allclose(
        loss.array, steps * np.log(2) - np.log(steps * (steps + 1) / 2), rtol=1e-5
    )
    loss.backward()
    np.testing.assert_allclose(x.grad.sum(axis=2), 0, atol=2e-4)


def test_ctc_of_long_sequences_keeps_its_digits():
    random = np.random.default_rng(0)
    x, t = random.normal(size=(1000, 1, 20)).astype("f"), random.integers(1, 20, (1, 60))

    def slope(x):
        v = Variable(x)
        ctc(v, t, 0).backward()
        return v.grad

    np.testing.assert_allclose(slope(x), slope(x.astype("d")), rtol=1e-6, atol=2e-4)


def test_ctc_refuses_what_does_not_fit():
    x, t = np.zeros((2, 3, 4)), np.ones((3, 1), int)
    with pytest.raises(InvalidType, match="ConnectionistTemporalClassification"):
        ctc(x, t[:2], 0)
    with pytest.raises(InvalidType, match=r"t.ndim == 2"):
        ctc(x, t[:, 0], 0)
    with pytest.raises(InvalidType, match=r"x.ndim == 3"):
        ctc(x[0], t, 0)
    with pytest.raises(ValueError, match=r"blank_symbol in \[0, 4\), got 4"):
        ctc(x, t, 4)
    with pytest.raises(ValueError, match="at least one step"):
        ctc([], t, 0)
    with pytest.raises(ValueError, match="'mean' or 'no'"):
        ctc(x, t, 0, reduce="sum")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 3]], [2], [2]), r"expected t in \[0, 3\), got 3 at \(0, 1\)"),
        (([[-1, 1]], [2], [2]), r"expected t in \[0, 3\), got -1 at \(0, 0\)"),
        (([[1, 2]], [3], [2]), r"expected input_length in \[0, 3\), got 3 at \(0,\)"),
        (([[1, 2]], [2], [-1]), r"expected label_length in \[0, 3\), got -1 at \(0,\)"),
    ],
)
def test_ctc_names_values_out_of_range(arguments, message):
    t, *lengths = map(np.array, arguments)
    x = np.zeros((2, 1, 3))
    with pytest.raises(OutOfRange, match=message):
        ctc(x, t, 0, *lengths)
    ctc(x, np.array([[1, -1]]), 0, np.array([2]), np.array([1]))  # what does not count may be any


def test_ctc_refuses_blanks_among_the_labels_in_debug_mode():
    x, t = np.zeros((2, 1, 3)), np.array([[1, 0]])
    with (
        core.using_config("debug", True),
        pytest.raises(ValueError, match="other than the blank 0"),
    ):
        ctc(x, t, 0)


# -- conditional random fields ---------------------------------------------------------------------


def by_time(sequences):
    return [
        np.array([s[i] for s in sequences if len(s) > i]) for i in range(max(map(len, sequences)))
    ]


def scores(cost, x):
    """Every labelling of a sequence with its score."""
    return {
        y: sum(x[i, k] for i, k in enumerate(y)) + sum(cost[a, b] for a, b in itertools.pairwise(y))
        for y in itertools.product(range(len(cost)), repeat=len(x))
    }


lengths = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(lambda n: sorted(n)[::-1])


@given(lengths, st.integers(1, 3), st.integers(0, 99))
def test_crf1d_against_every_labelling(lengths, labels, seed):
    random = np.random.default_rng(seed)
    cost = random.normal(size=(labels, labels))
    xs = [random.normal(size=(n, labels)) for n in lengths]
    ys = [random.integers(0, labels, n) for n in lengths]
    expected, best, path = [], [], []
    for x, y in zip(xs, ys, strict=True):
        each = scores(cost, x)
        expected.append(special.logsumexp(list(each.values())) - each[tuple(y.tolist())])
        best.append(max(each.values()))
        path.append(max(each, key=each.get))
    loss = F.crf1d(cost, by_time(xs), by_time(ys), reduce="no")
    np.testing.assert_allclose(loss.array, expected, atol=1e-12)
    mean = F.crf1d(cost, by_time(xs), by_time(ys))
    np.testing.assert_allclose(mean.array, np.mean(expected), atol=1e-12)
    score, labelling = F.argmax_crf1d(cost, by_time(xs))
    np.testing.assert_allclose(score.array, best)
    for one, other in zip(labelling, by_time(path), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("reduce", ["mean", "no"])
def test_crf1d_gradients(reduce):
    random = np.random.default_rng(0)
    inputs = tuple(random.normal(size=s) for s in [(3, 3), (3, 3), (3, 3), (1, 3)])
    ys = [random.integers(0, 3, n) for n in (3, 3, 1)]

    def loss(cost, *xs):
        return F.crf1d(cost, xs, ys, reduce)

    g = random.normal(size=loss(*inputs).shape)
    check_backward(loss, inputs, g)
    check_double_backward(loss, inputs, g, tuple(random.normal(size=x.shape) for x in inputs))
    check_backward(lambda cost, *xs: F.argmax_crf1d(cost, xs)[0], inputs, random.normal(size=3))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_crf1d_of_huge_scores_and_forbidden_transitions(dtype):
    cost = Variable(np.array([[0, -np.inf], [0, 0]], dtype))
    xs = [Variable(np.array(x, dtype)) for x in ([[1e4, 0]], [[0, 2e4]])]
    loss = F.crf1d(cost, xs, [np.array([1]), np.array([1])])
    assert loss.array == 0
    loss.backward()
    assert loss.dtype == dtype
    for v in (cost, *xs):
        assert not v.grad.any()


def test_crf1d_scores_the_labels_of_all_times_at_once():
    xs, ys = [np.zeros((2, 3))] * 9, [np.zeros(2, int)] * 9
    with core.function_hooks.ProfilerHook() as profiler:
        F.crf1d(np.zeros((3, 3)), xs, ys)
    calls = {entry.group[0]: entry.calls for entry in profiler.summary()}
    assert (calls["SelectItem"], calls["GetItem"]) == (1, 1)


def test_crf1d_refuses_what_does_not_fit():
    cost, x, y = np.zeros((2, 2)), np.zeros((3, 2)), np.zeros(3, int)
    for name, function in (
        ("crf1d", lambda cost, xs: F.crf1d(cost, xs, [np.zeros(len(x), int) for x in xs])),
        ("argmax_crf1d", F.argmax_crf1d),
    ):
        with pytest.raises(InvalidType, match=f"in: {name}[^n]*\n\nExpect: batches of xs that do"):
            function(cost, [x[:1], x])
        with pytest.raises(InvalidType, match="labels of cost and of each of xs"):
            function(cost, [x[:, :1]])
        with pytest.raises(InvalidType, match=r"cost.ndim == 2"):
            function(cost[0], [x])
        with pytest.raises(ValueError, match="at least one time step"):
            function(cost, [])
    with pytest.raises(InvalidType, match="shapes of ys"):
        F.crf1d(cost, [x], [y[:2]])
    with pytest.raises(ValueError, match="'mean' or 'no'"):
        F.crf1d(cost, [x], [y], reduce="sum")
