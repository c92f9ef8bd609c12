"""Composed losses and forget on the referee backend: NumPy's values and gradients, both orders."""

import numpy as np
import pytest

import core
import core.functions as F
from core import Variable
from core.arrays import backend

RANDOM = np.random.default_rng(0)
X, W = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(6, 3))
T, SAMPLES = np.array([0, 5, -1, 2]), RANDOM.integers(0, 6, (4, 5))
STEPS, LABELS = RANDOM.normal(size=(4, 2, 3)), np.array([[1, 2], [2, 2]])
IMAGES, INSTANCES = RANDOM.normal(size=(2, 3, 2, 2)), RANDOM.integers(0, 3, (2, 2, 2))
COST, YS = RANDOM.normal(size=(3, 3)), [np.array([0, 1, 2, 2]), np.array([1, 1]), np.array([2])]

CASES = {
    "negative_sampling": (
        lambda x, W, t, s: F.negative_sampling(x, t, W, lambda shape: s, 4, "no"),
        (X, W, T, SAMPLES),
    ),
    "black_out": (lambda x, W, t, s: F.black_out(x, t, W, s, "no"), (X, W, np.abs(T), SAMPLES)),
    "crf1d": (
        lambda cost, a, b, c, *ys: F.crf1d(cost, [a, b, c], ys, "no"),
        (COST, X, X[:2], X[:1], *YS),
    ),
    "argmax_crf1d": (
        lambda cost, *xs: F.argmax_crf1d(cost, xs)[0],
        (COST, X, X[:2], X[:1]),
    ),
    "connectionist_temporal_classification": (
        lambda a, b, t: F.connectionist_temporal_classification([a, b, b, a], t, 0, reduce="no"),
        (STEPS[0], STEPS[1], LABELS),
    ),
    "discriminative_1": (
        lambda x, t: F.discriminative_margin_based_clustering_loss(x, t, 0.3, 1.5, 3, 1),
        (IMAGES, INSTANCES),
    ),
    "discriminative_2": (
        lambda x, t: F.discriminative_margin_based_clustering_loss(x, t, 0.3, 1.5, 3, 2),
        (IMAGES, INSTANCES),
    ),
    "gaussian_nll": (lambda *xs: F.gaussian_nll(*xs, reduce="mean"), (X, X + 1, X / 2)),
    "huber_loss": (lambda x, t: F.huber_loss(x, t, 0.5), (X, X[::-1])),
    "forget": (lambda *xs: F.forget(lambda a, b: (F.exp(a) * b, F.sin(b)), *xs), (X, X + 1)),
}


def everything(function, host):
    """Outputs, gradients and second gradients, as host arrays."""
    inputs = [Variable(a) if backend.of(a).kind(a.dtype) == "f" else a for a in host]
    targets = [x for x in inputs if isinstance(x, Variable)]
    result = function(*inputs)
    outputs = result if isinstance(result, tuple) else (result,)
    first = core.grad([_squares(outputs)], targets, enable_double_backprop=True)
    second = core.grad([_squares(first)], targets)
    return [backend.to_host(y) for y in (*outputs, *first, *second)]


def _squares(ys):
    return sum([F.sum(y * y) for y in ys[1:]], F.sum(ys[0] * ys[0]))


@pytest.mark.parametrize("name", CASES)
def test_the_referee_gives_what_numpy_gives(name):
    function, arrays = CASES[name]
    referee = backend.get("strict")
    found = everything(function, [referee.asarray(a) for a in arrays])
    expected = everything(function, list(arrays))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
