"""Random numbers, as settings of plugrad's own generators decide."""

from __future__ import annotations

from typing import Any

import numpy as np

from core import as_variable
from core import functions as F
from plugins.imported.operators.common import dtype_name, dtype_of, host, like, plain, sized


def _drawn(node: Any, owner: Any, device: Any, shape: Any, dtype: str) -> Any:
    random = owner.random
    if node.op.startswith("RandomNormal"):
        drawn = random.normal(shape, dtype, device=device)
        return as_variable(drawn * node.get("scale", 1.0) + node.get("mean", 0.0))
    low, high = node.get("low", 0.0), node.get("high", 1.0)
    return as_variable(random.uniform(shape, dtype, low, high, device=device))


@plain
def _like(node: Any, x: Any) -> Any:
    number = node.get("dtype")
    dtype = dtype_of(x) if number is None else dtype_name(number)
    return _drawn(node, x.backend, x.device, x.shape, dtype)


def _of_shape(run: Any, node: Any, values: Any) -> Any:
    shape = sized(node.get("shape"))
    return _drawn(node, run.owner, run.device, shape, dtype_name(node.get("dtype", 1)))


@plain
def _bernoulli(node: Any, p: Any) -> Any:
    number = node.get("dtype")
    dtype = dtype_of(p) if number is None else dtype_name(number)
    drawn = p.backend.random.uniform(p.shape, "float64", device=p.device)
    return like(p, (np.asarray(p.backend.to_host(drawn)) < host(p)).astype(dtype))


@plain
def _multinomial(node: Any, scores: Any) -> Any:
    """Classes of rows, drawn by log probabilities that lack their norm."""
    p = np.cumsum(host(F.softmax(scores, axis=1)).astype("d"), axis=1)
    n = node.get("sample_size", 1)
    shape = sized((len(p), n, p.shape[1]))[:2]
    drawn = scores.backend.random.uniform(shape, "float64", device=scores.device)
    at = np.asarray(scores.backend.to_host(drawn)) * p[:, -1:]
    found = (at[..., None] >= p[:, None, :-1]).sum(axis=-1)
    return like(scores, found.astype(dtype_name(node.get("dtype", 6))))


@plain
def _dropout(node: Any, x: Any, ratio: Any = None, training: Any = None) -> Any:
    from core import config

    p = float(host(ratio).reshape(-1)[0]) if ratio is not None else node.get("ratio", 0.5)
    asked = bool(host(training).reshape(-1)[0]) if training is not None else False
    y, mask = F.dropout(x, p, return_mask=True) if asked and config.train and p else (x, None)
    kept = np.ones(x.shape, bool) if mask is None else np.asarray(x.backend.to_host(mask)) != 0
    return [y, like(x, kept)]


OPERATORS: dict[str, Any] = {
    "Bernoulli": _bernoulli,
    "Dropout": _dropout,
    "Multinomial": _multinomial,
    "RandomNormal": _of_shape,
    "RandomNormalLike": _like,
    "RandomUniform": _of_shape,
    "RandomUniformLike": _like,
}
