"""Losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import host, like, plain


def _picked(node: Any, log_p: Any, labels: Any, weight: Any) -> Any:
    """-log p of the labels, weighted, and reduced as the node says."""
    t = host(labels)
    ignored = node.get("ignore_index")
    kept = np.ones(t.shape, bool) if ignored is None else t != ignored
    places = np.where(kept, t, 0).astype("int64")
    grid = list(np.indices(t.shape))
    index = (grid[0], places, *grid[1:])
    dtype = host(log_p).dtype
    picked = log_p[tuple([like(log_p, each) for each in index])]
    weights = like(log_p, kept.astype(dtype))
    if weight is not None:
        weights = weights * weight[like(log_p, places)]
    loss = -picked * weights
    how = node.get("reduction", "mean")
    if how == "none":
        return loss
    return F.sum(loss) / F.sum(weights) if how == "mean" else F.sum(loss)


@plain
def _negative_log_likelihood(node: Any, log_p: Any, labels: Any, weight: Any = None) -> Any:
    return _picked(node, log_p, labels, weight)


@plain
def _softmax_cross_entropy(node: Any, scores: Any, labels: Any, weight: Any = None) -> Any:
    log_p = F.log_softmax(scores, axis=1)
    return [_picked(node, log_p, labels, weight), log_p]


OPERATORS: dict[str, Any] = {
    "NegativeLogLikelihoodLoss": _negative_log_likelihood,
    "SoftmaxCrossEntropyLoss": _softmax_cross_entropy,
}
