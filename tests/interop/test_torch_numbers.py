"""What docs/from_pytorch.md says of numbers: formulas here that give PyTorch's, beside PyTorch."""

import numpy as np
import pytest

import core
import core.functions as F
from core import optimizer_hooks, optimizers

torch = pytest.importorskip("torch")
there = torch.nn.functional

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 8, 3, 3))
LABELS = RNG.integers(0, 8, (4, 3, 3))
WEIGHTS = RNG.uniform(0.5, 2, 8)
P = RNG.uniform(size=X.shape)


def smoothed(t, share):
    one = F.one_hot(t, 8, axis=1, dtype="float64")
    return one * (1 - share) + share / 8


def weighted(x, t, w):
    return F.sum(F.softmax_cross_entropy(x, t, class_weight=w, reduce="no")) / w[t].sum()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: F.leaky_relu(x, 0.01), there.leaky_relu),
        (lambda x: F.relu6(x + 3) / 6, there.hardsigmoid),
        (lambda x: -F.softplus(-50 * x), lambda x: there.logsigmoid(50 * x)),
        (lambda x: F.logcumsumexp(90 * x, axis=1), lambda x: torch.logcumsumexp(90 * x, 1)),
        (lambda x: F.pixel_shuffle(x, 2), lambda x: there.pixel_shuffle(x, 2)),
        (lambda x: F.pixel_unshuffle(x, 3), lambda x: there.pixel_unshuffle(x, 3)),
        (lambda x: F.normalize(x, eps=0.0), there.normalize),
        (
            lambda x: F.local_response_normalization(x, 5, 1.0, 1e-4 / 5),
            lambda x: there.local_response_norm(x, 5),
        ),
        (lambda x: x.var(axis=1, ddof=1), lambda x: x.var(1)),
        (
            lambda x: weighted(x, LABELS, WEIGHTS),
            lambda x: there.cross_entropy(x, torch.tensor(LABELS), torch.tensor(WEIGHTS)),
        ),
        (
            lambda x: F.softmax_cross_entropy(x, smoothed(LABELS, 0.1)),
            lambda x: there.cross_entropy(x, torch.tensor(LABELS), label_smoothing=0.1),
        ),
        (
            lambda x: F.sigmoid_cross_entropy(x, P),
            lambda x: there.binary_cross_entropy_with_logits(x, torch.tensor(P)),
        ),
    ],
)
def test_functions(ours, theirs):
    np.testing.assert_allclose(ours(core.Variable(X)).array, theirs(torch.tensor(X)), rtol=1e-12)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_under_a_schedule_and_averages_of_weights(nesterov):
    """The optimizers that the table names are PyTorch's also where the rate changes."""
    start, points = RNG.normal(size=3), RNG.normal(size=(6, 3))
    model = core.Link()
    with model.init_scope():
        model.w = core.Parameter(start.copy())
    ours = optimizers.CorrectedNesterovAG if nesterov else optimizers.CorrectedMomentumSGD
    optimizer = ours(lr=0.05, momentum=0.9).setup(model)
    optimizer.add_hook(optimizer_hooks.WeightDecay(0.01))
    average = optimizer_hooks.ExponentialMovingAverage(0.5)
    optimizer.add_hook(average)
    w = torch.tensor(start, requires_grad=True)
    other = torch.optim.SGD([w], 0.05, momentum=0.9, weight_decay=0.01, nesterov=nesterov)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(other, 10)
    cosine = core.training.extensions.CosineShift("lr", 10, optimizer=optimizer)
    cosine.initialize(None)
    weights = []
    for _ in range(10):
        optimizer.update(lambda: F.sum(F.tanh(F.matmul(points, model.w)) ** 2))
        cosine(None)
        other.zero_grad()
        (torch.tanh(torch.tensor(points) @ w) ** 2).sum().backward()
        other.step()
        schedule.step()
        weights.append(w.detach().numpy().copy())
        np.testing.assert_allclose(model.w.array, weights[-1], rtol=1e-12)
    shares = 0.5 ** np.arange(10)[::-1]
    with average.applied():
        np.testing.assert_allclose(model.w.array, shares @ weights / shares.sum(), rtol=1e-12)
