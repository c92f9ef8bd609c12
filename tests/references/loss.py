"""References of losses and of what is counted: one example at a time."""

import itertools
import math
import statistics

import numpy as np
from references.tools import each
from scipy import special


def _mean(values):
    return np.asarray(statistics.fmean(values) if values else 0.0)


def hinge(x, t, norm="L1", reduce="mean"):
    loss = np.empty(x.shape)
    for i, k in np.ndindex(*x.shape):
        margin = max(0.0, 1 - x[i, k] if k == t[i] else 1 + x[i, k])
        loss[i, k] = margin if norm == "L1" else margin**2
    if reduce == "no":
        return loss
    return np.asarray(math.fsum(loss.ravel().tolist()) / max(len(x), 1))


def huber_loss(x, t, delta, reduce="sum_along_second_axis"):
    loss = special.huber(delta, x - t)
    return loss if reduce == "no" else loss.sum(axis=1)


def sigmoid_cross_entropy(x, t, normalize=True, reduce="mean"):
    loss = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        if t[index] != -1:
            sign = 1 if t[index] else -1
            loss[index] = -special.log_expit(sign * x[index])
    if reduce == "no":
        return loss
    rows = x.shape[0] if x.ndim and x.shape[0] else 1
    count = max(sum(1 for k in t.ravel() if k != -1), 1) if normalize else rows
    return np.asarray(math.fsum(loss.ravel().tolist()) / count)


def softmax_cross_entropy(
    x, t, normalize=True, ignore_label=-1, reduce="mean", label_smoothing=0.0
):
    loss = np.zeros(t.shape)
    for index in np.ndindex(*t.shape):
        scores = x[(index[0], slice(None), *index[1:])]
        if t[index] != ignore_label:
            logs = special.log_softmax(scores)
            loss[index] = (label_smoothing - 1) * logs[t[index]] - label_smoothing * logs.mean()
    if reduce == "no":
        return loss
    counted = sum(1 for k in t.ravel() if k != ignore_label)
    count = counted if normalize else len(x)
    return np.asarray(math.fsum(loss.ravel().tolist()) / max(count, 1))


def _mean_or_each(loss, reduce):
    return loss if reduce == "no" else np.asarray(math.fsum(loss.tolist()) / max(len(loss), 1))


def contrastive(x0, x1, y, margin=1.0, reduce="mean"):
    loss = np.empty(len(y))
    for i, (a, b) in enumerate(zip(x0, x1, strict=True)):
        d = math.dist(a, b)
        loss[i] = (d if y[i] else max(margin - d, 0.0)) ** 2 / 2
    return _mean_or_each(loss, reduce)


def triplet(anchor, positive, negative, margin=0.2, reduce="mean"):
    loss = np.empty(len(anchor))
    for i, (a, p, n) in enumerate(zip(anchor, positive, negative, strict=True)):
        loss[i] = max(math.dist(a, p) ** 2 - math.dist(a, n) ** 2 + margin, 0.0)
    return _mean_or_each(loss, reduce)


@each
def gaussian_nll(x, mean, ln_var):
    return -math.log(statistics.NormalDist(mean, math.exp(ln_var / 2)).pdf(x))


def gaussian_kl_divergence(mean, ln_var):
    """The integral of p (log p - log q) by Gauss-Hermite quadrature, exact for quadratics."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    z = mean + math.exp(ln_var / 2) * nodes
    terms = (z**2 - nodes**2 - ln_var) / 2
    return math.fsum(weights * terms) / math.sqrt(2 * math.pi)


def bernoulli_nll(x, y):
    return -(x * special.log_expit(y) + (1 - x) * special.log_expit(-y))


def _covariances(y, z):
    rows, columns = y.shape[1], z.shape[1]
    both = np.cov(np.concatenate([y, z], axis=1), rowvar=False, bias=True)
    return np.reshape(both, (rows + columns,) * 2)[:rows, rows:]


def cross_covariance(y, z, reduce="half_squared_sum"):
    if not (y.shape[1] and z.shape[1]):
        covariances = np.zeros((y.shape[1], z.shape[1]))
    else:
        covariances = _covariances(y, z)
    return covariances if reduce == "no" else np.asarray((covariances**2).sum() / 2)


def decov(h, reduce="half_squared_sum"):
    covariances = cross_covariance(h, h, "no")
    np.fill_diagonal(covariances, 0)
    return covariances if reduce == "no" else np.asarray((covariances**2).sum() / 2)


def _collapsed(alignment, blank):
    return [k for k, _ in itertools.groupby(alignment) if k != blank]


def connectionist_temporal_classification(
    x, t, input_length, label_length, blank_symbol, reduce="mean", impossible=1e10
):
    """Every alignment, one by one."""
    loss = np.empty(len(t))
    for i, (labels, steps, size) in enumerate(zip(t, input_length, label_length, strict=True)):
        logs = special.log_softmax(x[:steps, i], axis=1)
        fitting = [
            math.fsum(logs[step, k] for step, k in enumerate(alignment))
            for alignment in itertools.product(range(x.shape[2]), repeat=int(steps))
            if _collapsed(alignment, blank_symbol) == labels[:size].tolist()
        ]
        loss[i] = -special.logsumexp(fitting) if fitting else impossible
    return _mean_or_each(loss, reduce)


def accuracy(y, t, ignore_label=None, top_k=1):
    hits = []
    for index in np.ndindex(*t.shape):
        scores = y[(index[0], slice(None), *index[1:])].tolist()
        if ignore_label is None or t[index] != ignore_label:
            greatest = sorted(range(len(scores)), key=lambda k, of=scores: (-of[k], k))
            hits.append(t[index] in greatest[:top_k])
    return _mean(hits)


def binary_accuracy(y, t):
    pairs = zip(y.ravel().tolist(), t.ravel().tolist(), strict=True)
    return _mean([(score >= 0) == (label == 1) for score, label in pairs if label != -1])


def classification_summary(y, t, label_num=None, beta=1.0, ignore_label=-1):
    """Counted in sets of places."""
    places = list(np.ndindex(*t.shape))
    counted = {p for p in places if t[p] != ignore_label}
    guess = {p: int(np.argmax(y[(p[0], slice(None), *p[1:])])) for p in counted}
    if label_num is None:
        label_num = max([int(t[p]) for p in places], default=-1) + 1
    rows = []
    for k in range(label_num):
        there = {p for p in counted if t[p] == k}
        found = {p for p in counted if guess[p] == k}
        right = len(there & found)
        precision = right / len(found) if found else math.nan
        recall = right / len(there) if there else math.nan
        weights = (1 / (1 + beta**2), beta**2 / (1 + beta**2))
        fbeta = math.nan
        if precision * recall > 0:
            fbeta = statistics.harmonic_mean([precision, recall], weights)
        rows.append((precision, recall, fbeta, len(there)))
    columns = np.reshape(np.array(rows, float), (label_num, 4)).T
    return *columns[:3], columns[3].astype(int)


def r2_score(pred, true, sample_weight=None, multioutput="uniform_average"):
    """Column by column, from the weighted covariance of what is true."""
    scores = np.empty(true.shape[1:])
    for column in np.ndindex(*scores.shape):
        p, q = pred[(slice(None), *column)], true[(slice(None), *column)]
        variance = np.cov(q, aweights=sample_weight, ddof=0)
        scores[column] = 1 - np.average((p - q) ** 2, weights=sample_weight) / variance
    return scores if multioutput == "raw_values" else _mean(scores.ravel().tolist())


REFERENCES = {
    "SquaredError": each(lambda x, y: math.pow(x - y, 2)),
    "AbsoluteError": each(lambda x, y: math.fabs(x - y)),
    "Accuracy": accuracy,
    "BernoulliNLL": bernoulli_nll,
    "BinaryAccuracy": binary_accuracy,
    "ClassificationSummary": classification_summary,
    "CTC": connectionist_temporal_classification,
    "Contrastive": contrastive,
    "CrossCovariance": cross_covariance,
    "DeCov": decov,
    "GaussianKLDivergence": each(gaussian_kl_divergence),
    "GaussianNLL": gaussian_nll,
    "Hinge": hinge,
    "HuberLoss": huber_loss,
    "MeanAbsoluteError": lambda x, y: _mean([math.fabs(d) for d in (x - y).ravel()]),
    "MeanSquaredError": lambda x, y: _mean([d * d for d in (x - y).ravel()]),
    "R2Score": r2_score,
    "SigmoidCrossEntropy": sigmoid_cross_entropy,
    "SoftmaxCrossEntropy": softmax_cross_entropy,
    "Triplet": triplet,
}
