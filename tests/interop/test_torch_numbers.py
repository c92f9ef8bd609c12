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
SHARES = P / P.sum(axis=1, keepdims=True)
WEIGHTED = WEIGHTS[:, None, None]
SIGNS = np.sign(RNG.normal(size=X.shape))
HITS = (SIGNS > 0).astype(int)


def focal(x, e):
    return F.mean(F.expm1(-e) ** 2 * e)


def binary(x, reduction):
    t = torch.tensor(HITS, dtype=x.dtype)
    return there.binary_cross_entropy_with_logits(x, t, reduction=reduction)


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
        (
            lambda x: F.softmax_cross_entropy(x, LABELS),
            lambda x: there.nll_loss(there.log_softmax(x, 1), torch.tensor(LABELS)),
        ),
        (
            lambda x: F.sum(F.sigmoid_cross_entropy(x, P, reduce="no")),
            lambda x: there.binary_cross_entropy(x.sigmoid(), torch.tensor(P), reduction="sum"),
        ),
        (
            lambda x: F.pad(x, ((0, 0), (0, 0), (2, 1), (0, 1)), "reflect"),
            lambda x: there.pad(x, (0, 1, 2, 1), "reflect"),
        ),
        (
            lambda x: F.group_normalization(x, 8, np.ones(8), np.zeros(8)),
            there.instance_norm,
        ),
        (
            lambda x: F.gaussian_kl_divergence(x, x * x),
            lambda x: -0.5 * torch.sum(1 + x * x - x**2 - (x * x).exp()),
        ),
        (
            lambda x: F.sparse_matmul(core.utils.to_coo(HITS[0, :, 0] * 1.0), x[0, 0]),
            lambda x: torch.sparse.mm(torch.tensor(HITS[0, :, 0] * 1.0).to_sparse(), x[0, 0]),
        ),
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
            lambda x: F.softmax_cross_entropy(x, LABELS, label_smoothing=0.1),
            lambda x: there.cross_entropy(x, torch.tensor(LABELS), label_smoothing=0.1),
        ),
        (
            lambda x: F.sigmoid_cross_entropy(x, P),
            lambda x: there.binary_cross_entropy_with_logits(x, torch.tensor(P)),
        ),
        (
            lambda x: x * F.sigmoid(1.5957691216 * x * (1 + 0.044715 * x * x)),
            lambda x: there.gelu(x, approximate="tanh"),
        ),
        (lambda x: x * F.tanh(F.softplus(x)), there.mish),
        (lambda x: x * F.relu6(x + 3) / 6, there.hardswish),
        (lambda x: x[:, :4] * F.sigmoid(x[:, 4:]), lambda x: there.glu(x, 1)),
        (
            lambda x: F.mean((1 + (WEIGHTED - 1) * P) * F.softplus(-x) + (1 - P) * x),
            lambda x: there.binary_cross_entropy_with_logits(
                x, torch.tensor(P), pos_weight=torch.tensor(WEIGHTED)
            ),
        ),
        (
            lambda x: F.softmax_cross_entropy(x, SHARES, soft_target_loss="kl-divergence"),
            lambda x: (
                there.kl_div(x.log_softmax(1), torch.tensor(SHARES), reduction="none").sum(1).mean()
            ),
        ),
        (
            lambda x: F.mean(F.exp(x) - P * x),
            lambda x: there.poisson_nll_loss(x, torch.tensor(P)),
        ),
        (
            lambda x: F.gaussian_nll(core.Variable(P), x, F.log(core.Variable(P + 1)), "mean"),
            lambda x: there.gaussian_nll_loss(x, torch.tensor(P), torch.tensor(P + 1), full=True),
        ),
        (
            lambda x: F.sum(F.normalize(x, eps=1e-12) * F.normalize(x[::-1], eps=1e-12), axis=1),
            lambda x: there.cosine_similarity(x, x.flip(0)),
        ),
        (
            lambda x: F.mean(F.relu(-SIGNS * (x - P))),
            lambda x: there.margin_ranking_loss(x, torch.tensor(P), torch.tensor(SIGNS)),
        ),
        (
            lambda x: F.mean(F.huber_loss(x, P, 0.3, reduce="no")) / 0.3,
            lambda x: there.smooth_l1_loss(x, torch.tensor(P), beta=0.3),
        ),
        (
            lambda x: np.take_along_axis(x, np.argsort(-x, axis=1)[:, :3], 1),
            lambda x: x.topk(3, 1).values,
        ),
        (lambda x: np.quantile(x, 0.3, axis=1), lambda x: x.quantile(0.3, 1)),
        (np.nan_to_num, torch.nan_to_num),
        (
            lambda x: focal(x, F.sigmoid_cross_entropy(x, HITS, reduce="no")),
            lambda x: torch.mean(
                (1 - torch.exp(-binary(x, "none"))) ** 2 * binary(x, "none"),
            ),
        ),
    ],
)
def test_functions(ours, theirs):
    np.testing.assert_allclose(ours(core.Variable(X)).array, theirs(torch.tensor(X)), rtol=1e-9)


def test_hard_draws_are_one_hot_with_the_gradient_of_soft_ones():
    x, g = core.Variable(X), RNG.normal(size=X.shape)
    y = F.gumbel_softmax(x)
    hard = y + (F.one_hot(F.argmax(y, 1), y.shape[1], axis=1, dtype=y.dtype).array - y.array)
    found, soft = (core.grad([z], [x], [core.Variable(g)])[0].array for z in (hard, y))
    np.testing.assert_allclose(hard.array.max(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(found, soft)


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
