"""Products of matrices, and determinants."""

from __future__ import annotations

from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import host, is_float, like, plain, xp_of


@plain
def _matmul(node: Any, x: Any, y: Any) -> Any:
    if is_float(x):
        return xp_of(x).matmul(x, y)
    return like(x, np.matmul(host(x), host(y)))


@plain
def _gemm(node: Any, a: Any, b: Any, c: Any = None) -> Any:
    a = F.transpose(a) if node.get("transA", 0) else a
    b = F.transpose(b) if node.get("transB", 0) else b
    y = F.matmul(a, b)
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    y = y if alpha == 1 else alpha * y
    return y if c is None else y + (c if beta == 1 else beta * c)


@plain
def _einsum(node: Any, *inputs: Any) -> Any:
    return F.einsum(node.get("equation").replace(" ", ""), *inputs)


@plain
def _det(node: Any, x: Any) -> Any:
    rows = F.reshape(x, (-1, *x.shape[-2:]))
    return F.reshape(F.batch_det(rows), x.shape[:-2])


OPERATORS: dict[str, Any] = {
    "Det": _det,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": _matmul,
}
