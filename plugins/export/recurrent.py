"""Recurrent layers, one operator in ONNX: whole sequences here, or steps that follow each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from core.tracing import Applied
from plugins.export.graph import Graph

PRODUCT = "plugins.functions.connection.linear:LinearFunction"
STEP = "plugins.functions.rnn.gru:GRUStep"


class GRUSteps(NamedTuple):
    """Stands for steps that follow each other; the call takes h, W and b, and then each x."""

    steps: int


def whole_sequences(applied: list[Applied]) -> Iterator[Applied]:
    """Steps with the same weights, between which nothing else is computed, as one call each."""
    steps: list[tuple[Applied, Applied]] = []
    calls = [call for call in applied if name_of(call) in (PRODUCT, STEP)]
    for product, step in pairwise(sorted(calls, key=lambda call: call.first)):
        if not _is_step(product, step):
            continue
        if steps and not _goes_on(steps[-1], product):
            yield _joined(steps)
            steps = []
        steps.append((product, step))
    if steps:
        yield _joined(steps)


def name_of(call: Applied) -> str:
    """Which operation it is, as exporters are registered."""
    cls = type(call.function)
    return f"{cls.__module__}:{cls.__qualname__}"


def _is_step(product: Applied, step: Applied) -> bool:
    """Whether a step is given the product of its own state, of weights that have a bias."""
    return (
        (name_of(product), name_of(step)) == (PRODUCT, STEP)
        and len(product.inputs) == 3
        and product.end == step.first
        and step.inputs[0] == product.inputs[0]
        and step.inputs[2] == product.outputs[0]
    )


def _goes_on(before: tuple[Applied, Applied], product: Applied) -> bool:
    last, step = before
    same = product.inputs == (step.outputs[0], *last.inputs[1:])
    return same and step.end == product.first


def _joined(steps: list[tuple[Applied, Applied]]) -> Applied:
    (first, _), (_, last) = steps[0], steps[-1]
    inputs = (*first.inputs, *[step.inputs[1] for _, step in steps])
    outputs = tuple([step.outputs[0] for _, step in steps])
    return Applied(GRUSteps(len(steps)), inputs, outputs, first.first, last.end)


def gru(g: Graph, call: Applied, h: str, W: str, b: str, *xs: str) -> list[str]:
    """GRU of steps."""
    rows = [g.reshape(x, (1, *each.shape)) for x, each in zip(xs, call.inputs[3:], strict=True)]
    x = rows[0] if len(rows) == 1 else g.add("Concat", *rows, axis=0)
    y = g.reshape(_gru(g, call, h, x, W, b), (len(xs), *call.inputs[0].shape))
    return [g.gather(y, g.constant(i, "int64"), 0) for i in range(len(xs))]


def gru_sequence(g: Graph, call: Applied, h: str, x: str, W: str, b: str) -> list[str]:
    """GRU."""
    return [g.reshape(_gru(g, call, h, x, W, b), call.outputs[0].shape)]


def _gru(g: Graph, call: Applied, h: str, x: str, W: str, b: str) -> str:
    """All outputs; its own products with inputs only bring the gates into its order."""
    n, units = call.inputs[0].shape
    # Here the blocks are those of r, z and the new state, there z comes first.
    order = np.concatenate([np.arange(units) + gate * units for gate in (1, 0, 2)])
    dtype = g.dtype(h)
    sorting = g.constant(np.eye(3 * units)[order][None], dtype)
    recurrent = g.reshape(g.gather(W, order, 0), (1, 3 * units, units))
    none = g.constant(np.zeros(3 * units), dtype)
    bias = g.reshape(g.add("Concat", none, g.gather(b, order, 0), axis=0), (1, 6 * units))
    first = g.reshape(h, (1, n, units))
    more = {"hidden_size": int(units), "linear_before_reset": 1}
    y, _ = g.add_several("GRU", 2, x, sorting, recurrent, bias, "", first, dtype=dtype, **more)
    return y


def tanh_sequence(g: Graph, call: Applied, h: str, x: str, W: str) -> list[str]:
    """RNN with its usual activation."""
    return _simple(g, call, h, x, W, "Tanh")


def relu_sequence(g: Graph, call: Applied, h: str, x: str, W: str) -> list[str]:
    """RNN with another one."""
    return _simple(g, call, h, x, W, "Relu")


def _simple(g: Graph, call: Applied, h: str, x: str, W: str, activation: str) -> list[str]:
    n, units = call.inputs[0].shape
    dtype = g.dtype(h)
    as_it_is, recurrent = g.constant(np.eye(units)[None], dtype), g.reshape(W, (1, units, units))
    first, more = g.reshape(h, (1, n, units)), {"hidden_size": int(units)}
    given = x, as_it_is, recurrent, "", "", first
    y, _ = g.add_several("RNN", 2, *given, dtype=dtype, activations=[activation], **more)
    return [g.reshape(y, call.outputs[0].shape)]
