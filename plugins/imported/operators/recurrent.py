"""Recurrent layers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import Refused, host, like, plain

ACTIVATIONS: dict[str, tuple[Any, tuple[tuple[str, float], ...]]] = {
    "affine": (lambda x, a, b: a * x + b, (("alpha", 1.0), ("beta", 0.0))),
    "elu": (lambda x, a: F.elu(x, a), (("alpha", 1.0),)),
    "hardsigmoid": (
        lambda x, a, b: F.clip(a * x + b, 0.0, 1.0),
        (("alpha", 0.2), ("beta", 0.5)),
    ),
    "leakyrelu": (lambda x, a: F.leaky_relu(x, a), (("alpha", 0.01),)),
    "relu": (F.relu, ()),
    "scaledtanh": (lambda x, a, b: a * F.tanh(b * x), (("alpha", 1.0), ("beta", 1.0))),
    "sigmoid": (F.sigmoid, ()),
    "softplus": (F.softplus, ()),
    "softsign": (lambda x: x / (1 + F.absolute(x)), ()),
    "tanh": (F.tanh, ()),
    "thresholdedrelu": (
        lambda x, a: x * like(x, (host(x) > a).astype(host(x).dtype)),
        (("alpha", 1.0),),
    ),
}
"""By names in small letters: the function, and which settings it takes, with their defaults."""


def _activations(node: Any, usual: list[str], count: int) -> list[Any]:
    """The functions of all directions; each takes its settings from the node's lists in turn.

    What a function of a gate or of new values is given is clipped; states are not, at the output
    of an LSTM, as in onnxruntime.
    """
    named = node.get("activations") or usual * count
    unknown = [name for name in named if name.lower() not in ACTIVATIONS]
    if unknown:
        raise NotImplementedError(f"an activation of {unknown}")
    if len(named) != len(usual) * count:
        raise Refused(f"expected {len(usual) * count} activations, got {len(named)}")
    lists = {key: iter(node.get(f"activation_{key}") or ()) for key in ("alpha", "beta")}

    def applied(function: Any, own: list[float], clip: Any) -> Any:
        return lambda x: function(x if clip is None else F.clip(x, -clip, clip), *own)

    found = []
    for i, name in enumerate(named):
        function, wanted = ACTIVATIONS[name.lower()]
        own = [next(lists[key], default) for key, default in wanted]
        found.append(applied(function, own, node.get("clip") if i % len(usual) < 2 else None))
    return found


def _zeros(x: Any, *shape: int) -> Any:
    return like(x, np.zeros(shape, host(x).dtype))


def _directions(node: Any, cell: Any, usual: list[str], states: int, *inputs: Any) -> Any:
    """All directions of a layer; `cell(node, functions, weights, x, states)` gives a step's."""
    whole: list[Any] = [*inputs, *[None] * (6 + states - len(inputs))]
    x, W, R, b, lengths, *first = whole
    peeps = first.pop()
    if node.get("layout", 0):
        x = F.transpose(x, (1, 0, 2))
        first = [None if s is None else F.transpose(s, (1, 0, 2)) for s in first]
    steps, n, _ = x.shape
    units, count = R.shape[-1], W.shape[0]
    functions = _activations(node, usual, count)
    given = None if lengths is None else host(lengths)
    outputs, last = [], []
    half = R.shape[1]
    for d in range(count):
        own = functions[d * len(usual) : (d + 1) * len(usual)]
        bias = _zeros(x, 2 * half) if b is None else b[d]
        weights = W[d], R[d], bias[:half], bias[half:], None if peeps is None else peeps[d]
        state = [_zeros(x, n, units) if s is None else s[d] for s in first[:states]]
        backwards = d == 1 or node.get("direction", "forward") == "reverse"
        order = range(steps)[::-1] if backwards else range(steps)
        found, state = _stepped(partial(cell, node, own, weights), x, state, order, given)
        outputs.append(found)
        last.append(state)
    y = F.stack(outputs, axis=1)
    ends = [F.stack([state[i] for state in last]) for i in range(states)]
    if node.get("layout", 0):
        y = F.transpose(y, (2, 0, 1, 3))
        ends = [F.transpose(s, (1, 0, 2)) for s in ends]
    return [y, *ends]


def _stepped(cell: Any, x: Any, state: list[Any], order: range, lengths: Any) -> Any:
    """The outputs of all steps, and the state after the last; sequences that have ended keep it."""
    found: list[Any] = [None] * len(order)
    for step in order:
        new = cell(x[step], state)
        found[step] = new[0]
        if lengths is not None:
            inside = like(x, (step < lengths)[:, None])
            new = [F.where(*F.broadcast(inside, a, o)) for a, o in zip(new, state, strict=True)]
            found[step] = F.where(*F.broadcast(inside, new[0], new[0] * 0))
        state = new
    return F.stack(found), state


def _rnn_cell(node: Any, functions: Any, weights: Any, x: Any, state: Any) -> Any:
    W, R, bw, br, _ = weights
    return [functions[0](F.linear(x, W, bw) + F.linear(state[0], R, br))]


def _gru_cell(node: Any, functions: Any, weights: Any, x: Any, state: Any) -> Any:
    W, R, bw, br, _ = weights
    (h,) = state
    u = h.shape[1]
    wz, wr, wh = F.split_axis(F.linear(x, W, bw), 3, axis=1)
    rz, rr, rh = F.split_axis(F.linear(h, R, br), 3, axis=1)
    z, r = functions[0](wz + rz), functions[0](wr + rr)
    if node.get("linear_before_reset", 0):
        new = functions[1](wh + r * rh)
    else:
        new = functions[1](wh + F.linear(r * h, R[2 * u :], br[2 * u :]))
    return [(1 - z) * new + z * h]


def _lstm_cell(node: Any, functions: Any, weights: Any, x: Any, state: Any) -> Any:
    W, R, bw, br, peep = weights
    h, c = state
    gates = F.linear(x, W, bw) + F.linear(h, R, br)
    i, o, f, g = F.split_axis(gates, 4, axis=1)
    if peep is not None:
        pi, po, pf = F.split_axis(peep, 3, axis=0)
        i, f = i + pi * c, f + pf * c
    i, f = functions[0](i), functions[0](f)
    if node.get("input_forget", 0):
        f = 1 - i
    c = f * c + i * functions[1](g)
    o = functions[0](o + po * c if peep is not None else o)
    return [o * functions[2](c), c]


def _layer(cell: Any, usual: list[str], states: int = 1) -> Any:
    return plain(lambda node, *inputs: _directions(node, cell, usual, states, *inputs))


OPERATORS: dict[str, Any] = {
    "GRU": _layer(_gru_cell, ["Sigmoid", "Tanh"]),
    "LSTM": _layer(_lstm_cell, ["Sigmoid", "Tanh", "Tanh"], 2),
    "RNN": _layer(_rnn_cell, ["Tanh"]),
}
