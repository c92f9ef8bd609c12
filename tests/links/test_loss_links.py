"""The losses with parameters, by check_link, against sums written out in plain NumPy."""

import copy
from itertools import product

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.testing import check_link

RANDOM = np.random.RandomState(0)
X = RANDOM.uniform(-1, 1, (4, 3))
T = np.array([0, 2, 1, 0])
TREE = ((0, (3, 1)), 2)
TURNS = {  # word: its inner nodes, and 1 for the left, by hand
    0: [(0, 1), (1, 1)],
    1: [(0, 1), (1, -1), (2, -1)],
    2: [(0, -1)],
    3: [(0, 1), (1, -1), (2, 1)],
}


def log_sigmoid(x):
    return -np.log1p(np.exp(-x))


def hierarchical(p, x, t):
    steps = [(v, node, s) for v, word in zip(x, t, strict=True) for node, s in TURNS[int(word)]]
    return -sum(log_sigmoid(s * (p["/W"][node] @ v)) for v, node, s in steps)


def negative(p, x, t):
    """With the word 1 drawn each time, twice."""
    own = log_sigmoid((x * p["/W"][t]).sum(1))
    return -(own + 2 * log_sigmoid(-(x @ p["/W"][1]))).sum()


def black_out(p, x, t):
    """With the word 1 drawn each time, twice."""
    losses = []
    for v, word in zip(x, t, strict=True):
        scores = np.exp([p["/W"][j] @ v for j in (word, 1, 1)])
        scores = scores / scores.sum()
        losses.append(-np.log(scores[0]) - 2 * np.log(1 - scores[1]))
    return np.mean(losses)


def score(cost, x, y):
    steps = sum(cost[a, b] for a, b in zip(y, y[1:], strict=False))
    return steps + sum(each[label] for each, label in zip(x, y, strict=True))


class Sequences(core.Chain):
    """A field for scores and labels that come as arrays of the same length."""

    def __init__(self, field):
        super().__init__()
        with self.init_scope():
            self.field = field

    def forward(self, x, y):
        ys = [y[i, :] for i in range(y.shape[0])]
        return self.field(F.separate(x, axis=0), ys)


def field_loss(p, x, y):
    losses = []
    for n in range(x.shape[1]):
        scores = [score(p["/field/cost"], x[:, n], z) for z in product(range(2), repeat=len(x))]
        losses.append(np.log(np.exp(scores).sum()) - score(p["/field/cost"], x[:, n], y[:, n]))
    return np.mean(losses)


def started(link):
    """The link with vectors that are not all zero."""
    home = link.W.backend
    values = np.random.RandomState(1).uniform(-1, 1, link.W.shape)
    home.copyto(link.W.array, home.asarray(values, home.dtype_name(link.W.dtype)))
    return link


LINKS = {
    "NegativeSampling": (
        lambda: started(L.NegativeSampling(3, [0, 5, 0], 2)),
        (X, T),
        negative,
    ),
    "BlackOut": (lambda: L.BlackOut(3, [0, 5, 0], 2), (X, np.array([0, 2, 0, 0])), black_out),
    "BinaryHierarchicalSoftmax": (
        lambda: L.BinaryHierarchicalSoftmax(3, TREE),
        (X, np.array([0, 1, 2, 3])),
        hierarchical,
    ),
    "CRF1d": (
        lambda: Sequences(L.CRF1d(2, initial_cost=0.5)),
        (RANDOM.uniform(-1, 1, (3, 4, 2)), RANDOM.randint(0, 2, (3, 4))),
        field_loss,
    ),
}


@pytest.mark.parametrize("name", LINKS)
def test_link(name):
    check_link(*LINKS[name])


def test_negative_samples_follow_a_power_of_the_counts():
    layer = L.NegativeSampling(1, [16, 1, 0], 2000, power=0.5)
    x = np.ones((2, 1), "f")
    loss, words = layer(x, np.array([0, -1]), "no", return_samples=True)
    samples = words[:, 1:]
    assert words[:, 0].tolist() == [0, -1]
    assert loss.shape == (2,) and loss.array[1] == 0
    assert samples.shape == (2, 2000)
    assert abs((samples == 0).mean() - 0.8) < 0.05 and not (samples == 2).any()
    assert layer.W.array.tolist() == [[0], [0], [0]]


def test_negative_sampling_in_a_dtype():
    assert L.NegativeSampling(1, [1, 1], 1, dtype="float16").W.dtype == "float16"
    with pytest.raises(ValueError, match="NegativeSampling: expected counts of 0 or more, got -2"):
        L.NegativeSampling(1, [1, -2], 1)
    assert L.BinaryHierarchicalSoftmax(1, (0, 1), dtype="float16").W.dtype == "float16"


def test_samplers_of_copies_stay_where_they_are():
    layer = L.BlackOut(3, [1, 1, 1], 2)
    for duplicate in (layer.copy("share"), layer.copy("copy"), copy.deepcopy(layer)):
        duplicate.to_device("strict")
        assert core.backend.of(duplicate.sampler.sample(2)).name == "strict"
        assert core.backend.of(layer.sampler.sample(2)).name == "numpy"


def test_field_finds_the_best_labels():
    with core.using_config("dtype", "float64"):
        field = L.CRF1d(2, initial_cost=RANDOM.uniform(-1, 1, (2, 2)))
    x = RANDOM.uniform(-1, 1, (4, 1, 2))
    best, labels = field.argmax(list(x))
    scores = {y: score(field.cost.array, x[:, 0], y) for y in product(range(2), repeat=4)}
    assert tuple(int(y[0]) for y in labels) == max(scores, key=scores.get)
    np.testing.assert_allclose(best.array[0], max(scores.values()))
    ys = [np.array([0])] * 4
    assert field(list(x), ys, reduce="no").shape == (1,)


def test_field_takes_sequences_one_by_one_as_well():
    with core.using_config("dtype", "float64"):
        field = L.CRF1d(3, initial_cost=RANDOM.uniform(-1, 1, (3, 3)))
    xs = [RANDOM.uniform(-1, 1, (n, 3)) for n in (2, 4, 1, 3)]  # unsorted
    ys = [np.arange(len(x)) % 3 for x in xs]
    alone = [field(list(x[:, None]), list(y[:, None])).array for x, y in zip(xs, ys, strict=True)]
    np.testing.assert_allclose(field(xs, ys, "no", transpose=True).array, alone)
    np.testing.assert_allclose(field(xs, ys, transpose=True).array, np.mean(alone))
    scores, labels = field.argmax(xs, transpose=True)
    for x, best, path in zip(xs, scores.array, labels, strict=True):
        expected, by_time = field.argmax(list(x[:, None]))
        np.testing.assert_allclose(best, expected.array[0])
        assert path.tolist() == [int(y[0]) for y in by_time]


@pytest.mark.parametrize("count", [1, 3])
def test_field_refuses_labels_of_fewer_or_more_sequences(count):
    field, xs = L.CRF1d(3), [np.ones((2, 3), "f")] * 2
    with pytest.raises(
        core.errors.InvalidType, match=r"len\(xs\) == len\(ys\)\n.*2 != " f"{count}"
    ):
        field(xs, [np.zeros(2, "i")] * count, transpose=True)


def test_probabilities_of_all_words_add_up_to_one():
    layer = L.BinaryHierarchicalSoftmax(3, TREE)
    x = X[:1].astype("f")
    total = sum(np.exp(-layer(x, np.array([word])).array) for word in range(4))
    np.testing.assert_allclose(total, 1, rtol=1e-5)


@pytest.mark.parametrize("word", [-1, -4, 4])
def test_a_tree_refuses_numbers_that_are_no_words_of_it(word):
    layer = L.BinaryHierarchicalSoftmax(3, TREE)
    with pytest.raises(core.errors.OutOfRange, match=rf"t in \[0, 4\), got {word} at \(1,\)"):
        layer(X[:2].astype("f"), np.array([0, word]))


@pytest.mark.parametrize("shape", [(1,), (3, 1)])
def test_a_tree_refuses_words_that_are_not_one_for_each_example(shape):
    layer = L.BinaryHierarchicalSoftmax(3, TREE)
    with pytest.raises(core.errors.InvalidType, match=r"t.shape == x.shape\[:1\]"):
        layer(X[:3].astype("f"), np.zeros(shape, "i"))


def depth_of(tree, word, depth=0):
    if not isinstance(tree, tuple):
        return depth if tree == word else None
    found = (depth_of(branch, word, depth + 1) for branch in tree)
    return next((d for d in found if d is not None), None)


def test_huffman_tree_is_the_least_deep():
    counts = {0: 5, 1: 9, 2: 12, 3: 13, 4: 16, 5: 45}
    tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(counts)
    # The known optimum for these counts: 224 turns in all.
    assert sum(n * depth_of(tree, word) for word, n in counts.items()) == 224
    assert L.BinaryHierarchicalSoftmax(2, tree).W.shape == (5, 2)
    with pytest.raises(ValueError, match="create_huffman_tree: expected the counts"):
        L.BinaryHierarchicalSoftmax.create_huffman_tree({})


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ((0, (1, 1)), "the word 1 again"),
        (0, "the word 0 alone"),
        ((0, 2), r"once in the tree, got \[0, 2\]"),
        ((0, 1, 2), "got 3 branches"),
        ([[0, 1], 2], "tuples of two and of numbers of words, got list"),
        (((0, "1"), 2), "tuples of two and of numbers of words, got str"),
    ],
)
def test_trees_that_make_no_sense_are_refused(tree, message):
    with pytest.raises(ValueError, match=message):
        L.BinaryHierarchicalSoftmax(2, tree)
