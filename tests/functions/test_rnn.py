"""Layers of recurrent units against loops over one sequence, one layer, one direction at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
from core.testing.gradient_check import check_backward, check_double_backward

UNITS, SIZE = 3, 2


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, h, c, W, b):
    i, f, a, o = (W[k] @ x + W[k + 4] @ h + b[k] + b[k + 4] for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(a)
    return sigmoid(o) * np.tanh(c), c


def gru(x, h, W, b):
    r, z = (sigmoid(W[k] @ x + W[k + 3] @ h + b[k] + b[k + 3]) for k in range(2))
    a = np.tanh(W[2] @ x + b[2] + r * (W[5] @ h + b[5]))
    return ((1 - z) * a + z * h,)


def tanh(x, h, W, b):
    return (np.tanh(W[0] @ x + W[1] @ h + b[0] + b[1]),)


def relu(x, h, W, b):
    return (np.maximum(W[0] @ x + W[1] @ h + b[0] + b[1], 0),)


CELLS = {  # name: the loop's cell, weights, the functions of one direction and of both, settings
    "lstm": (lstm, 8, F.n_step_lstm, F.n_step_bilstm, {}),
    "gru": (gru, 6, F.n_step_gru, F.n_step_bigru, {}),
    "tanh": (tanh, 2, F.n_step_rnn, F.n_step_birnn, {}),
    "relu": (relu, 2, F.n_step_rnn, F.n_step_birnn, {"activation": "relu"}),
}


def loop(cell, directions, states, ws, bs, sequences):
    """Final states (layers x directions, sequence) and each sequence's outputs."""
    last = [np.array(s) for s in states]
    results = []
    for k, xs in enumerate(sequences):
        for layer in range(len(ws) // directions):
            sides = []
            for i in range(layer * directions, (layer + 1) * directions):
                state = [s[i, k] for s in states]
                backward = i % directions
                ys = []
                for x in xs[::-1] if backward else xs:
                    state = cell(x, *state, ws[i], bs[i])
                    ys.append(state[0])
                for s, value in zip(last, state, strict=True):
                    s[i, k] = value
                sides.append(ys[::-1] if backward else ys)
            xs = [np.concatenate(parts) for parts in zip(*sides, strict=True)]
        results.append(xs)
    return last, results


def arguments(name, layers, directions, lengths, seed=0):
    draw = np.random.default_rng(seed).normal
    _, weights, *_ = CELLS[name]
    states = [draw(size=(layers * directions, len(lengths), UNITS)) for _ in range(2)]
    states = states if name == "lstm" else states[:1]
    ws = []
    for i in range(layers * directions):
        below = SIZE if i < directions else UNITS * directions
        sizes = [below] * (weights // 2) + [UNITS] * (weights // 2)
        ws.append([draw(size=(UNITS, n)) for n in sizes])
    bs = [[draw(size=UNITS) for _ in range(weights)] for _ in ws]
    return states, ws, bs, [draw(size=(n, SIZE)) for n in lengths]


def by_time(sequences):
    length = len(sequences[0])
    return [np.stack([s[t] for s in sequences if len(s) > t]) for t in range(length)]


@pytest.mark.parametrize("name", CELLS)
@given(
    layers=st.integers(1, 3),
    directions=st.integers(1, 2),
    lengths=st.lists(st.integers(0, 7), min_size=0, max_size=3),
    longest=st.integers(1, 9),
    seed=st.integers(0, 99),
)
def test_layers_do_what_loops_do(name, layers, directions, lengths, longest, seed):
    lengths = sorted([min(n, longest) for n in lengths] + [longest], reverse=True)
    cell, _, *functions, settings = CELLS[name]
    states, ws, bs, sequences = arguments(name, layers, directions, lengths, seed)
    function = functions[directions - 1]
    *last, ys = function(layers, 0.0, *states, ws, bs, by_time(sequences), **settings)
    expected_last, expected = loop(cell, directions, states, ws, bs, sequences)
    for actual, wanted in zip(last, expected_last, strict=True):
        np.testing.assert_allclose(actual.array, wanted, atol=1e-12)
    assert len(ys) == longest
    for y, wanted in zip(ys, by_time(expected), strict=True):
        np.testing.assert_allclose(y.array, wanted, atol=1e-12)


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize(
    ("name", "lengths"),
    [*[(name, [3, 3]) for name in CELLS], *[(name, [3, 1]) for name in CELLS if name != "relu"]],
)
def test_gradients_of_any_order_reach_every_argument(name, lengths, directions):
    _, _, *functions, settings = CELLS[name]
    states, ws, bs, sequences = arguments(name, 2, directions, lengths)
    xs = by_time(sequences)
    parts = [*states, *xs, *[w for part in ws for w in part], *[b for part in bs for b in part]]

    def function(*given):
        given = list(given)
        s = [given.pop(0) for _ in states]
        x = [given.pop(0) for _ in xs]
        W = [[given.pop(0) for _ in part] for part in ws]
        b = [[given.pop(0) for _ in part] for part in bs]
        *last, ys = functions[directions - 1](2, 0.0, *s, W, b, x, **settings)
        return (*last, *ys)

    draw = np.random.default_rng(1).normal
    outputs = [draw(size=y.shape) for y in function(*parts)]
    check_backward(function, tuple(parts), tuple(outputs), atol=1e-6, rtol=1e-5)
    seeds = tuple(draw(size=p.shape) for p in parts)
    check_double_backward(function, tuple(parts), tuple(outputs), seeds, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("directions", [1, 2])
def test_sequences_of_any_lengths_take_the_same_operations(name, directions):
    counts, settings = [], CELLS[name][-1]
    for lengths in ([8] * 8, range(8, 0, -1), [8, 1], [1]):
        states, ws, bs, sequences = arguments(name, 2, directions, lengths)
        with core.function_hooks.ProfilerHook() as profiler:
            CELLS[name][1 + directions](2, 0.0, *states, ws, bs, by_time(sequences), **settings)
        counts.append({entry.group[0]: entry.calls for entry in profiler.summary()})
    assert counts[1:] == counts[:1] * 3
    (whole,) = [label for label in counts[0] if label.endswith("Sequence")]
    assert counts[0][whole] == 2 * directions


def test_dropout_lies_between_layers_and_in_training_alone():
    states, ws, bs, sequences = arguments("tanh", 2, 1, [4])
    xs = by_time(sequences)
    _, plain = F.n_step_rnn(2, 0.0, *states, ws, bs, xs)
    with core.using_config("train", False):
        _, tested = F.n_step_rnn(2, 0.9, *states, ws, bs, xs)
    _, dropped = F.n_step_rnn(2, 0.9, *states, ws, bs, xs)
    _, single = F.n_step_rnn(1, 0.9, states[0][:1], ws[:1], bs[:1], xs)
    _, undropped = F.n_step_rnn(1, 0.0, states[0][:1], ws[:1], bs[:1], xs)
    np.testing.assert_array_equal(tested[3].array, plain[3].array)
    assert not np.array_equal(dropped[3].array, plain[3].array)
    np.testing.assert_array_equal(single[3].array, undropped[3].array)


def test_single_precision_stays_single():
    states, ws, bs, sequences = arguments("gru", 1, 2, [2, 1])
    single = [[[a.astype("f") for a in part] for part in parts] for parts in (ws, bs)]
    xs = [x.astype("f") for x in by_time(sequences)]
    hy, ys = F.n_step_bigru(1, 0.0, states[0].astype("f"), *single, xs)
    assert {hy.dtype, *[y.dtype for y in ys]} == {np.dtype("float32")}


def test_ill_fitting_arguments_are_refused_by_name():
    states, ws, bs, sequences = arguments("lstm", 1, 1, [2, 1])
    xs = by_time(sequences)
    InvalidType = core.type_check.InvalidType
    with pytest.raises(InvalidType, match=r"n_step_lstm.*\n\nExpect: hx.shape\[0\] == 2"):
        F.n_step_lstm(2, 0.0, *states, ws * 2, bs * 2, xs)
    with pytest.raises(InvalidType, match="8 arrays in each of 1 ws\nActual: \\[7\\]"):
        F.n_step_lstm(1, 0.0, *states, [ws[0][:7]], bs, xs)
    for weights, biases, what in ((None, bs, "ws"), (ws, None, "bs"), (ws, 1, "bs")):
        with pytest.raises(InvalidType, match=f"8 arrays in each of 1 {what}\nActual: [Ni]"):
            F.n_step_lstm(1, 0.0, *states, weights, biases, xs)
    with pytest.raises(InvalidType, match="that do not grow"):
        F.n_step_lstm(1, 0.0, *states, ws, bs, xs[::-1])
    with pytest.raises(InvalidType, match="hx.shape == cx.shape"):
        F.n_step_lstm(1, 0.0, states[0], states[1][:, :1], ws, bs, xs)
    with pytest.raises(ValueError, match="at least one time step"):
        F.n_step_lstm(1, 0.0, *states, ws, bs, [])
    with pytest.raises(ValueError, match="at least 1, got 0"):
        F.n_step_lstm(0, 0.0, *states, [], [], xs)
    with pytest.raises(ValueError, match="ratio"):
        F.n_step_lstm(1, 1.5, *states, ws, bs, xs)
    with pytest.raises(ValueError, match="activation 'tanh' or 'relu', got 'gelu'"):
        F.n_step_rnn(1, 0.0, *states[:1], ws, bs, xs, "gelu")
    with pytest.raises(ValueError, match="use_cudnn"):
        F.n_step_lstm(1, 0.0, *states, ws, bs, xs, use_cudnn=True)
    with pytest.raises(TypeError, match="expected the cell states"):
        F.tree_lstm(np.zeros((1, 4)))


@pytest.mark.parametrize(
    ("name", "kind", "settings"),
    [
        ("lstm", "LSTM", {}),
        ("gru", "GRU", {}),
        ("tanh", "RNNTanh", {}),
        ("relu", "RNNReLU", {"activation": "relu"}),
    ],
)
@pytest.mark.parametrize("directions", [1, 2])
def test_the_classes_take_the_same_arrays_in_one_list(name, kind, settings, directions):
    states, ws, bs, sequences = arguments(name, 2, directions, [3, 1])
    xs, function = by_time(sequences), CELLS[name][1 + directions]
    *last, ys = function(2, 0.0, *states, ws, bs, xs, **settings)
    layers = getattr(F, f"NStep{'Bi' * (directions - 1)}{kind}")(2, 0.0)
    flat = [array for parts in (*ws, *bs) for array in parts]
    for found in (layers.apply((*states, *flat, *xs)), layers(*states, *flat, *xs)):
        for one, other in zip(found, (*last, *ys), strict=True):
            np.testing.assert_array_equal(one.array, other.array)
    with pytest.raises(TypeError, match="at least one time step"):
        layers.apply((*states, *flat))
