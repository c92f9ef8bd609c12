"""Recurrent links, by check_link, against formulas written here in plain NumPy."""

import copy

import numpy as np
import pytest

import core
import core.links as L
from core.errors import RemovedArgument
from core.testing import check_link

RANDOM = np.random.RandomState(0)
X = RANDOM.uniform(-1, 1, (4, 3))
C, H = RANDOM.uniform(-1, 1, (2, 4, 2))
CHILDREN = tuple(RANDOM.uniform(-1, 1, (4, 4, 2)))
SEQUENCES = tuple(RANDOM.uniform(-1, 1, (n, 3)) for n in (2, 4, 2, 1))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def affine(p, x, name):
    return x @ p[f"/{name}/W"].T + p.get(f"/{name}/b", 0)


def gru(p, h, x):
    z, new = affine(p, x, "W_z"), affine(p, x, "W")
    if h is None:
        return sigmoid(z) * np.tanh(new)
    r = sigmoid(affine(p, x, "W_r") + affine(p, h, "U_r"))
    z, new = sigmoid(z + affine(p, h, "U_z")), np.tanh(new + affine(p, r * h, "U"))
    return (1 - z) * h + z * new


def mgu(p, h, x):
    f = sigmoid(affine(p, np.hstack([h, x]), "W_f"))
    return (1 - f) * h + f * np.tanh(affine(p, np.hstack([f * h, x]), "W_h"))


def peephole(p, c, h, x):
    gates = affine(p, x, "upward") + affine(p, h, "lateral")
    a, i, f, o = (gates[:, k::4] for k in range(4))
    kept = sigmoid(f + affine(p, c, "peep_f")) * c
    c = np.tanh(a) * sigmoid(i + affine(p, c, "peep_i")) + kept
    return c, sigmoid(o + affine(p, c, "peep_o")) * np.tanh(c)


def lstm(p, c, h, x):
    gates = affine(p, x, "upward") + affine(p, h, "lateral")
    a, i, f, o = (gates[:, k::4] for k in range(4))
    c = np.tanh(a) * sigmoid(i) + sigmoid(f) * c
    return c, sigmoid(o) * np.tanh(c)


def tree(gates, forget, cells):
    a, i, o = np.split(gates, 3, axis=1)
    kept = sum(sigmoid(f) * c for f, c in zip(forget, cells, strict=True))
    c = np.tanh(a) * sigmoid(i) + kept
    return c, sigmoid(o) * np.tanh(c)


def child_sum(p, *cshsx):
    *children, x = cshsx
    half = len(children) // 2
    cs, hs = children[:half], children[half:]
    gates = affine(p, x, "W_x")
    forget = [gates[:, 6:] + affine(p, h, "W_h_f") for h in hs]
    aio = gates[:, :6] + sum(affine(p, h, "W_h_aio") for h in hs)
    return tree(aio, forget, cs)


def nary(p, *cshsx):
    *children, x = cshsx
    half = len(children) // 2
    hs = children[half:]
    gates = affine(p, x, "W_x") + sum(affine(p, h, f"W_h{k}") for k, h in enumerate(hs, 1))
    return tree(gates[:, :6], np.split(gates[:, 6:], half, axis=1), children[:half])


ZERO = np.zeros((4, 2))

LINKS = {
    "StatelessGRU": (lambda: L.StatelessGRU(3, 2, bias_init=0.5), (H, X), gru),
    "StatelessGRU, size omitted": (lambda: L.StatelessGRU(2), (H, X), gru),
    "StatefulGRU": (lambda: L.StatefulGRU(3, 2), (X,), lambda p, x: gru(p, None, x)),
    "GRU, size omitted": (lambda: L.GRU(2), (X,), lambda p, x: gru(p, None, x)),
    "StatelessMGU": (lambda: L.StatelessMGU(3, 2), (H, X), mgu),
    "StatefulMGU": (lambda: L.StatefulMGU(3, 2), (X,), lambda p, x: mgu(p, ZERO, x)),
    "StatefulMGU, size omitted": (lambda: L.StatefulMGU(2), (X,), lambda p, x: mgu(p, ZERO, x)),
    "StatefulPeepholeLSTM": (
        lambda: L.StatefulPeepholeLSTM(3, 2),
        (X,),
        lambda p, x: peephole(p, ZERO, ZERO, x)[1],
    ),
    "StatefulPeepholeLSTM, size omitted": (
        lambda: L.StatefulPeepholeLSTM(2),
        (X,),
        lambda p, x: peephole(p, ZERO, ZERO, x)[1],
    ),
    "StatefulZoneoutLSTM": (
        lambda: L.StatefulZoneoutLSTM(3, 2, 0, 0, forget_bias_init=1),
        (X,),
        lambda p, x: lstm(p, ZERO, ZERO, x)[1],
    ),
    "ChildSumTreeLSTM": (lambda: L.ChildSumTreeLSTM(3, 2), (*CHILDREN, X), child_sum),
    "ChildSumTreeLSTM of one": (lambda: L.ChildSumTreeLSTM(None, 2), (C, H, X), child_sum),
    "ChildSumTreeLSTM, a leaf": (
        lambda: L.ChildSumTreeLSTM(3, 2),
        (X,),
        lambda p, x: child_sum(p, ZERO, ZERO, x),
    ),
    "NaryTreeLSTM": (lambda: L.NaryTreeLSTM(3, 2), (*CHILDREN, X), nary),
    "NaryTreeLSTM of one": (lambda: L.NaryTreeLSTM(None, 2, 1), (C, H, X), nary),
}


@pytest.mark.parametrize("name", LINKS)
def test_link(name):
    check_link(*LINKS[name])


class Steps(core.Chain):
    """Several steps of a stateful link, each output of it."""

    def __init__(self, cell):
        super().__init__()
        with self.init_scope():
            self.cell = cell

    def forward(self, x):
        self.cell.reset_state()
        return tuple([self.cell(each) for each in core.functions.separate(x, axis=0)])


def unrolled(step, count):
    """The reference of several steps from one of a single step, which gives the output last."""

    def reference(p, x):
        p = {path.removeprefix("/cell"): value for path, value in p.items()}
        states, ys = (ZERO[:2],) * count, []
        for each in x:
            states = step(p, *states, each)
            states = states if isinstance(states, tuple) else (states,)
            ys.append(states[-1])
        return tuple(ys)

    return reference


STATEFUL = {
    "GRU": (lambda: L.GRU(3, 2), unrolled(gru, 1)),
    "StatefulMGU": (lambda: L.StatefulMGU(3, 2), unrolled(mgu, 1)),
    "StatefulPeepholeLSTM": (lambda: L.StatefulPeepholeLSTM(3, 2), unrolled(peephole, 2)),
    "StatefulZoneoutLSTM": (lambda: L.StatefulZoneoutLSTM(3, 2, 0, 0), unrolled(lstm, 2)),
}


@pytest.mark.parametrize("name", STATEFUL)
def test_state_moves_on(name):
    make, reference = STATEFUL[name]
    x = RANDOM.uniform(-1, 1, (3, 2, 3))
    if name == "GRU":  # with a state of zeros the bias of U counts, without one it does not
        check_link(lambda: Steps(L.GRU(3, 2, bias_init=0)), (x,), reference)
    else:
        check_link(lambda: Steps(make()), (x,), reference)


@pytest.mark.parametrize("name", STATEFUL)
def test_state_can_be_set_moved_and_copied(name):
    layer = STATEFUL[name][0]()
    given = [H.astype("f")] * len(layer.carried)
    layer.set_state(*given)
    duplicate = copy.deepcopy(layer)
    x = X.astype("f")
    y = layer(x).array
    np.testing.assert_array_equal(duplicate(x).array, y)
    assert (y != STATEFUL[name][0]()(x).array).any()
    duplicate.to_device("strict")
    assert {getattr(duplicate, state).backend.name for state in duplicate.carried} == {"strict"}
    layer.reset_state()
    assert [getattr(layer, state) for state in layer.carried] == [None] * len(given)


@pytest.mark.parametrize(("before", "now"), [(2, 1), (1, 5)])
@pytest.mark.parametrize(
    "name", ["StatefulGRU", "GRU", "StatefulMGU", "StatefulPeepholeLSTM", "StatefulZoneoutLSTM"]
)
def test_no_batch_is_broadcast_with_the_state_of_another(name, before, now):
    layer = getattr(L, name)(3, 2)
    layer(np.ones((before, 3), "f"))
    kept = layer.h
    with pytest.raises(ValueError, match=f"expected a batch of {before}.*, got {now}"):
        layer(np.ones((now, 3), "f"))
    assert layer.h is kept
    layer.reset_state()
    assert layer(np.ones((now, 3), "f")).shape == (now, 2)


@pytest.mark.parametrize(("states", "now"), [(2, 1), (1, 5)])
def test_no_batch_is_broadcast_with_states_that_are_given(states, now):
    h, same, x = (np.ones(shape, "f") for shape in ((states, 2), (now, 2), (now, 3)))
    for call in (
        lambda: L.StatelessGRU(3, 2)(h, x),
        lambda: L.StatelessMGU(3, 2)(h, x),
        lambda: L.StatelessLSTM(3, 2)(None, h, x),
        lambda: L.StatelessLSTM(3, 2)(same, h, x),
        lambda: L.ChildSumTreeLSTM(3, 2)(same, same, same, h, x),
        lambda: L.NaryTreeLSTM(3, 2, 2)(same, same, h, same, x),
    ):
        with pytest.raises(ValueError, match=f"expected a batch of {states}.*, got {now}"):
            call()


@pytest.mark.parametrize("name", ["StatelessGRU", "StatelessMGU"])
def test_no_state_is_zeros(name):
    cell, x = getattr(L, name)(3, 2), X.astype("f")
    np.testing.assert_allclose(cell(None, x).array, cell(ZERO.astype("f"), x).array, rtol=1e-6)


def test_sequences_may_end_but_none_may_join():
    layer = L.LSTM(3, 2)
    x = X.astype("f")
    layer(x[:3])
    first = layer.h.array.copy()
    assert layer(x[:2]).shape == (2, 2)
    np.testing.assert_array_equal(layer.h.array[2], first[2])  # the last has ended
    with pytest.raises(ValueError, match=r"a batch of at most 3, .* got 4. Call reset_state\(\)"):
        layer(x)


@pytest.mark.parametrize("bias", [0, 0.5])
def test_a_gru_without_a_state_leaves_out_the_biases_of_U(bias):
    cell = L.StatelessGRU(3, 2, bias_init=bias)
    x = X.astype("f")
    zeros = cell(np.zeros((4, 2), "f"), x).array
    assert np.allclose(cell(None, x).array, zeros) == (bias == 0)
    for U in (cell.U_r, cell.U_z, cell.U):
        U.b.array[...] = 0
    np.testing.assert_allclose(cell(None, x).array, cell(zeros * 0, x).array, rtol=1e-6)


def test_gru_is_told_from_the_stateless_one():
    with pytest.raises(TypeError, match="links.GRU: .*take links.StatelessGRU"):
        L.GRU(3, 2)(H, X)
    with pytest.raises(TypeError, match="links.GRU: expected an out_size"):
        L.GRU(None)


def test_stateless_gru_without_a_state_starts_from_zeros():
    cell = L.StatelessGRU(3, 2)
    x = X.astype("f")
    zeros = np.zeros((4, 2), "f")
    np.testing.assert_allclose(cell(None, x).array, cell(zeros, x).array, rtol=1e-5, atol=1e-6)


def test_gru_initial_values():
    layer = L.GRU(3, 2, init=1, inner_init=2, bias_init=3)
    found = {path: set(param.array.ravel().tolist()) for path, param in layer.namedparams()}
    assert all(v == {1.0} for path, v in found.items() if path[1] == "W" and path[-1] == "W")
    assert all(v == {2.0} for path, v in found.items() if path[1] == "U" and path[-1] == "W")
    assert all(v == {3.0} for path, v in found.items() if path[-1] == "b")


def test_zoneout_keeps_parts_of_the_state_in_training_only():
    layer = L.StatefulZoneoutLSTM(3, 50, c_ratio=0.5, h_ratio=0.3)
    x = np.ones((20, 3), "f")
    layer(x)
    c, h = layer.c.array, layer.h.array
    layer(x)
    assert abs((layer.c.array == c).mean() - 0.5) < 0.1
    assert abs((layer.h.array == h).mean() - 0.3) < 0.1
    plain = L.LSTM(3, 50)
    plain.copyparams(layer)
    layer.reset_state()
    with core.using_config("train", False):
        for _ in range(2):
            np.testing.assert_allclose(layer(x).array, plain(x).array, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("cell", "reference"), [(L.ChildSumTreeLSTM(3, 2), child_sum), (L.NaryTreeLSTM(3, 2), nary)]
)
def test_what_is_missing_in_a_tree_is_zero(cell, reference):
    p = {path: param.array for path, param in cell.namedparams()}
    c, h, x = (v.astype("f") for v in (C, H, X))
    for given in ((c, None, h, None, x), (c, None, h, None, None), (None, None, None, None, x)):
        zeros = [np.zeros((4, n), "f") for n in (2, 2, 2, 2, 3)]
        filled = [z if v is None else v for v, z in zip(given, zeros, strict=True)]
        expected = reference(p, *filled)
        for y, e in zip(cell(*given), expected, strict=True):
            np.testing.assert_allclose(y.array, e, rtol=1e-5, atol=1e-6)


def test_trees_that_make_no_sense_are_refused():
    with pytest.raises(TypeError, match="links.NaryTreeLSTM: expected 2 children, .*got 3 arg"):
        L.NaryTreeLSTM(3, 2)(C, H, X)
    with pytest.raises(TypeError, match="links.ChildSumTreeLSTM: .*got 2 arguments"):
        L.ChildSumTreeLSTM(3, 2)(C, X)
    with pytest.raises(TypeError, match="that is not None, got none"):
        L.ChildSumTreeLSTM(3, 2)(None, None, None)
    with pytest.raises(TypeError, match="Give in_size"):
        L.ChildSumTreeLSTM(None, 2)(C, H, None)
    with pytest.raises(ValueError, match="n_ary of at least 1"):
        L.NaryTreeLSTM(3, 2, 0)


# -- layers over whole sequences ------------------------------------------------------------------


def lstm_unit(w, b, states, x):
    h, c = states
    i, f, a, o = (x @ w[k].T + h @ w[k + 4].T + b[k] + b[k + 4] for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(a)
    return sigmoid(o) * np.tanh(c), c


def gru_unit(w, b, states, x):
    (h,) = states
    r, z = (sigmoid(x @ w[k].T + h @ w[k + 3].T + b[k] + b[k + 3]) for k in range(2))
    a = np.tanh(x @ w[2].T + b[2] + r * (h @ w[5].T + b[5]))
    return ((1 - z) * a + z * h,)


def simple_unit(activation):
    def unit(w, b, states, x):
        return (activation(x @ w[0].T + states[0] @ w[1].T + b[0] + b[1]),)

    return unit


UNITS = {
    "LSTM": (lstm_unit, 8, 2),
    "GRU": (gru_unit, 6, 1),
    "RNNTanh": (simple_unit(np.tanh), 2, 1),
    "RNNReLU": (simple_unit(lambda x: np.maximum(x, 0)), 2, 1),
}


def layered(kind, directions, n_layers, size=2):
    """The reference: each sequence alone, unit by unit."""
    unit, count, n_states = UNITS[kind]

    def run_one(p, number, first, xs):
        w, b = ([p[f"/layers/{number}/{c}{k}"] for k in range(count)] for c in "wb")
        states, ys = first, []
        for x in xs:
            states = unit(w, b, states, x)
            ys.append(states[0])
        return ys, states

    def reference(p, *arrays):
        last, outputs = [], []
        firsts, sequences = arrays[:n_states], arrays[n_states:]
        for i, xs in enumerate(sequences):
            ends = []
            for layer in range(n_layers):
                sides = []
                for d in range(directions):
                    number = layer * directions + d
                    first = tuple(s[number, i] for s in firsts)
                    ys, end = run_one(p, number, first, xs[::-1] if d else xs)
                    sides.append(ys[::-1] if d else ys)
                    ends.append(end)
                xs = np.concatenate(sides, axis=1)
            outputs.append(xs)
            last.append(ends)
        stacked = [np.array([[e[k] for e in ends] for ends in last]) for k in range(n_states)]
        return *[s.transpose(1, 0, 2) for s in stacked], *outputs

    return reference


class Sequences(core.Chain):
    """Layers over sequences that come one by one as arguments."""

    def __init__(self, layers):
        super().__init__()
        with self.init_scope():
            self.layers = layers

    def forward(self, *args):
        n = self.layers.n_cells
        *states, ys = self.layers(*args[:n], list(args[n:]))
        return *states, *ys


def over_sequences(kind, direction):
    """What check_link takes to prove two layers of a kind, in one direction or both."""
    cls = getattr(L, f"NStep{direction}{kind}")
    directions, n_states = (2 if direction else 1), UNITS[kind][2]
    first = [RANDOM.uniform(-1, 1, (2 * directions, 4, 2)) for _ in range(n_states)]
    settings = {"initial_bias": 3.0, "initialW": 0.25} if kind == "RNNReLU" else {}  # no kinks
    reference = layered(kind, directions, 2)
    return lambda: Sequences(cls(2, 3, 2, 0.0, **settings)), (*first, *SEQUENCES), reference


LAYERS = {f"NStep{d}{kind}": over_sequences(kind, d) for kind in UNITS for d in ("", "Bi")}


SLOW = {"NStepBiLSTM", "NStepBiGRU", "NStepBiRNNTanh"}  # of both directions, the others say most


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in LAYERS]
)
def test_layers_over_sequences(name):
    check_link(*LAYERS[name])


@pytest.mark.parametrize("kind", ["LSTM", "BiLSTM", "GRU", "BiGRU", "RNNTanh", "BiRNNReLU"])
def test_layers_start_from_zeros_and_size_themselves(kind):
    layers = getattr(L, f"NStep{kind}")(2, None, 2, 0.5)
    xs = [x.astype("f") for x in SEQUENCES]
    with core.using_config("train", False):
        *states, ys = layers(*[None] * layers.n_cells, xs)
        zeros = np.zeros(states[0].shape, "f")
        *again, zs = layers(*[zeros] * layers.n_cells, xs)
    assert layers.in_size == 3 and layers[0].w0.shape == (2, 3)
    assert [len(y) for y in ys] == [len(x) for x in xs]
    for found, expected in zip([*states, *ys], [*again, *zs], strict=True):
        np.testing.assert_array_equal(found.array, expected.array)


@pytest.mark.parametrize("make", [L.NStepLSTM, L.NStepBiLSTM, L.NStepBiGRU, L.NStepBiRNNTanh])
def test_sequences_of_one_length_give_what_they_give_beside_others(make):
    """They are run as one array."""
    layers, n = make(2, 3, 4, 0.0), 3
    xs = [core.Variable(RANDOM.uniform(-1, 1, (5, 3)).astype("f")) for _ in range(n)]
    longer = RANDOM.uniform(-1, 1, (6, 3)).astype("f")
    given = [RANDOM.uniform(-1, 1, (len(layers), n + 1, 4)).astype("f")] * layers.n_cells
    alone = layers(*[s[:, 1:] for s in given], xs)
    results = alone, layers(*given, [longer, *xs])
    found = []
    for first, (*states, ys) in enumerate(results):
        outputs = [*[s[:, first:] for s in states], *ys[first:]]
        slopes = core.grad(outputs, xs, [y * 0.5 for y in outputs])
        found.append([y.array for y in (*outputs, *slopes)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("begin", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("make", [L.NStepLSTM, L.NStepBiLSTM, L.NStepBiGRU, L.NStepBiRNNTanh])
def test_an_array_gives_an_array_of_what_its_sequences_give(make, dropout, begin):
    layers = make(2, None, 4, dropout)
    x = core.Variable(RANDOM.uniform(-1, 1, (3, 5, 3)).astype("f"))
    given = [None] * layers.n_cells
    if begin:
        given = [RANDOM.uniform(-1, 1, (len(layers), 3, 4)).astype("f")] * layers.n_cells
    layers(*given, x)  # sizes the first layer
    found = []
    for each in (x, list(x)):
        core.seed(0)
        *states, ys = layers(*given, each)
        core.seed(None)
        y = ys if each is x else core.functions.stack(ys)
        (slope,) = core.grad([*states, y], [x], [*states, y * 0.5])
        found.append([v.array for v in (*states, y, slope)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_each_sequence_is_as_if_it_were_alone():
    layers = L.NStepBiLSTM(2, 3, 2, 0.0)
    xs = [x.astype("f") for x in SEQUENCES]
    hy, cy, ys = layers(None, None, xs)
    for i, x in enumerate(xs):
        h, c, (y,) = layers(None, None, [x])
        np.testing.assert_allclose(ys[i].array, y.array, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(hy.array[:, i], h.array[:, 0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(cy.array[:, i], c.array[:, 0], rtol=1e-5, atol=1e-6)


def test_dropout_between_layers_in_training_only():
    layers = L.NStepGRU(2, 3, 20, 0.5)
    xs = [x.astype("f") for x in SEQUENCES]
    one, two = (layers(None, xs)[1][0].array for _ in range(2))
    assert (one != two).any()
    with core.using_config("train", False):
        one, two = (layers(None, xs)[1][0].array for _ in range(2))
    assert (one == two).all()


def test_layers_refuse_what_they_do_not_take():
    with pytest.raises(RemovedArgument, match="NStepLSTM: .*use_cudnn"):
        L.NStepLSTM(1, 3, 2, 0.0, use_cudnn=True)
    with pytest.raises(
        TypeError, match="NStepGRU: expected a list of sequences .* an array .*, got ndarray"
    ):
        L.NStepGRU(1, 3, 2, 0.0)(None, X)
    with pytest.raises(ValueError, match="links.NStepGRU: expected sequences .* none at place 1"):
        L.NStepGRU(1, 3, 2, 0.0)(None, [X, X[:0]])
    with pytest.raises(TypeError, match="expected an array .* got list"):
        L.NStepGRU(1, 3, 2, 0.0)(None, [X, X.tolist()])
    for shape, where in [((2, 0, 3), "at place 0"), ((0, 2, 3), "at all")]:
        with pytest.raises(
            ValueError, match=f"sequences of one element at least, got none {where}"
        ):
            L.NStepGRU(1, 3, 2, 0.0)(None, np.zeros(shape, "f"))
    with pytest.raises(TypeError, match="expected a list of sequences .* got none"):
        L.NStepGRU(1, 3, 2, 0.0)(None, [])


STEPS = (L.LSTM, L.StatefulGRU, L.StatefulPeepholeLSTM, L.StatefulZoneoutLSTM)


@pytest.mark.parametrize("link", STEPS)
def test_whole_sequences_are_not_taken_for_a_step(link):
    """They were flattened in silence where the size was open, and refused with a wrong cure."""
    sequences, maps = np.ones((4, 5, 3), "f"), np.ones((4, 5, 3, 1), "f")
    with pytest.warns(UserWarning, match=r"\(4, 5, 3\) for one step of 15 numbers"):
        assert link(None, 2)(sequences).shape == (4, 2)
    with pytest.raises(core.errors.InvalidType, match=r"Cure: call it with x\[:, i\] for each"):
        link(3, 2)(sequences)
    assert link(None, 2)(maps).shape == link(15, 2)(sequences).shape == (4, 2)
