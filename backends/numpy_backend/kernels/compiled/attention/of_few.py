"""Attention of few queries, as a model has that writes one word at a time: keys are read in place.

Of many queries keys and values are copied into panels first (`attention`). For a few that takes
longer than everything else, so these meet the keys one by one, as these lie in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend.kernels.compiled.attention.weights import weigh
from backends.numpy_backend.kernels.compiled.products.few_rows import row_times_transposed
from backends.numpy_backend.kernels.compiled.products.panels import vectors
from backends.numpy_backend.kernels.compiler import Indices, Read1, Real, Write1, compiled
from backends.numpy_backend.kernels.emitter import Emitter, emitted

FEW = 4  # queries: of more each key would be read too often
LANES = 16  # of the widest vectors


@emitted
def _average(
    e: Emitter, y: Any, weights: Any, total: Any, values: Any, row: Any, seen: Any, depth: Any
) -> None:
    """`y[l] = sum(weights[j] * values[j * row + l]) / total[0]`."""
    share = e.broadcast(e.builder.fdiv(e.constant(1.0), e.read(total)))

    def part(offsets: list[Any], some: Any) -> None:
        sums = [e.variable(e.broadcast(e.constant(0.0))) for _ in offsets]
        with e.loop(seen) as j:
            weight, line = e.broadcast(e.read(e.at(weights, j))), e.at(values, j * row)
            for offset, mean in zip(offsets, sums, strict=True):
                value = e.load(e.at(line, offset), where=some)
                mean.set(e.fused(value, weight, mean.get()))
        for offset, mean in zip(offsets, sums, strict=True):
            e.store(e.builder.fmul(mean.get(), share), e.at(y, offset), where=some)

    size = 4 * e.lanes
    whole = depth & -size
    with e.loop(whole, size) as first:
        part([first + i * e.lanes for i in range(4)], None)
    for offset, some in vectors(e, depth - whole):
        part([whole + offset], some)


@compiled
def attend_few(
    q: Read1, q_at: Indices, q_row: int,
    k: Read1, k_at: Indices, k_row: int,
    v: Read1, v_at: Indices, v_row: int,
    y: Write1, y_at: Indices, y_row: int,
    log_total: Write1,
    n: int, m: int, e: int, d: int, scale: Real, causal: int, start: int, stop: int,
) -> None:  # fmt: skip
    """What `attention.attend` does."""
    wide = (m + LANES - 1) // LANES * LANES
    weights, total, zero = np.empty(wide, q.dtype), np.empty(1, q.dtype), np.zeros(1, q.dtype)
    for head in range(start, stop):
        keys, values = k[k_at[head] :], v[v_at[head] :]
        for r in range(n):
            seen = min(m, r + 1) if causal else m
            at = head * n + r
            query = q[q_at[head] + r * q_row :]
            row_times_transposed(weights, query, keys, k_row, zero, 0, e, 0, seen)
            weigh(weights, wide, 1, seen, 0, m, wide, scale, log_total, at, total)
            _average(y[y_at[head] + r * y_row :], weights, total, values, v_row, seen, d)
            log_total[at] += np.log(total[0])
