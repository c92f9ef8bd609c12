"""Recurrent layers over whole sequences, one operator in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.tracing import Applied
from plugins.export.graph import Graph


def lstm_sequence(g: Graph, call: Applied, h: str, c: str, x: str, W: str) -> list[str] | None:
    """LSTM, whose own products with inputs only bring the gates into its order."""
    units = call.inputs[0].shape[1]
    # Here the gates of a unit stand together, as cell, input, forget, output; there all gates of
    # one kind do, as input, output, forget, cell.
    order = np.concatenate([np.arange(units) * 4 + gate for gate in (1, 3, 2, 0)])
    return _layer(g, call, "LSTM", [h, c], x, W, order=order)


def gru_sequence(g: Graph, call: Applied, h: str, x: str, W: str, b: str) -> list[str] | None:
    """GRU."""
    units = call.inputs[0].shape[1]
    # Here the blocks are those of r, z and the new state, there z comes first.
    order = np.concatenate([np.arange(units) + gate * units for gate in (1, 0, 2)])
    return _layer(g, call, "GRU", [h], x, W, b, order=order, linear_before_reset=1)


def tanh_sequence(g: Graph, call: Applied, h: str, x: str, W: str) -> list[str] | None:
    """RNN with its usual activation."""
    return _layer(g, call, "RNN", [h], x, W, activations=["Tanh"])


def relu_sequence(g: Graph, call: Applied, h: str, x: str, W: str) -> list[str] | None:
    """RNN with another one."""
    return _layer(g, call, "RNN", [h], x, W, activations=["Relu"])


def _layer(
    g: Graph,
    call: Applied,
    op: str,
    first: list[str],
    x: str,
    W: str,
    b: str = "",
    order: Any = None,
    **more: Any,
) -> list[str] | None:
    """All outputs and the last states, from products that have `order` for the operator's.

    Its own products with inputs only bring them into that. Steps that shorter sequences lack are
    filled with any rows, and their outputs left out.
    """
    f, states, (rows, columns) = call.function, len(first), call.inputs[len(first)].shape
    n, units = call.inputs[0].shape
    steps, dtype, lengths = (rows + sum(f.shorter)) // n, g.dtype(x), ""
    if f.shorter:
        own = steps - np.array([0] * (n - len(f.shorter)) + list(f.shorter))
        if not own[-1]:
            return None  # what becomes of a sequence without steps is nobody's promise
        inside = np.arange(steps)[:, None] < own
        places = np.where(inside, np.cumsum(inside).reshape(steps, n) - 1, 0)
        x, lengths = g.gather(x, places.ravel(), 0), g.constant(own, "int32")
    x = g.reshape(x, (steps, n, columns))
    sorting = np.eye(columns)
    if order is not None:
        sorting, W = sorting[order], g.gather(W, order, 0)
        if b:
            none = g.constant(np.zeros(columns), dtype)
            b = g.add("Concat", none, g.gather(b, order, 0), axis=0)
    weights = g.constant(sorting[None], dtype), g.reshape(W, (1, columns, units))
    given = [
        *(x, *weights, g.reshape(b, (1, 2 * columns)) if b else "", lengths),
        *[g.reshape(state, (1, n, units)) for state in first],
    ]
    more |= {"hidden_size": int(units)} | ({"direction": "reverse"} if f.reverse else {})
    y, *last = g.add_several(op, 1 + states, *given, dtype=dtype, **more)
    if f.shorter:
        y = g.gather(g.reshape(y, (steps * n, units)), np.flatnonzero(inside), 0)
    return [g.reshape(each, of.shape) for each, of in zip((y, *last), call.outputs, strict=True)]
