"""`ai.onnx.preview.training`: gradients, and one step of an optimizer as a function of arrays.

The inputs of a step are the rate, the number of steps so far, and then all parameters, all their
gradients, and all arrays of each kind that the optimizer keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import core
from core import functions as F
from plugins.imported.operators.common import Refused, host, plain


def _stepped(kept: int, step: Callable[..., Any]) -> Any:
    """An operator of `step(node, rate, steps, x, g, *kept)`, which gives x and the kept anew."""

    @plain
    def operator(node: Any, rate: Any, steps: Any, *arrays: Any) -> Any:
        n, over = divmod(len(arrays), 2 + kept)
        if over:
            raise Refused(f"expected {2 + kept} arrays for each parameter, got {len(arrays)}")
        r, t = (float(host(each).reshape(-1)[0]) for each in (rate, steps))
        found = [step(node, r, t, *arrays[i::n]) for i in range(n)]
        return [each[k] for k in range(1 + kept) for each in found]

    return operator


def _decayed(node: Any, x: Any, g: Any) -> Any:
    return node.get("norm_coefficient", 0.0) * x + g


def _adagrad(node: Any, rate: float, steps: float, x: Any, g: Any, squares: Any) -> Any:
    rate /= 1 + steps * node.get("decay_factor", 0.0)
    g = _decayed(node, x, g)
    squares = squares + g * g
    return x - rate * g / (F.sqrt(squares) + node.get("epsilon", 1e-6)), squares


def _adam(node: Any, rate: float, steps: float, x: Any, g: Any, first: Any, second: Any) -> Any:
    a, b = node.get("alpha", 0.9), node.get("beta", 0.999)
    g = _decayed(node, x, g)
    first, second = a * first + (1 - a) * g, b * second + (1 - b) * (g * g)
    if steps > 0:
        rate *= (1 - b**steps) ** 0.5 / (1 - a**steps)
    x = x - rate * first / (F.sqrt(second) + node.get("epsilon", 1e-6))
    return (1 - node.get("norm_coefficient_post", 0.0)) * x, first, second


def _momentum(node: Any, rate: float, steps: float, x: Any, g: Any, v: Any) -> Any:
    g = _decayed(node, x, g)
    v = node.get("alpha") * v + (node.get("beta") if steps > 0 else 1.0) * g
    return x - rate * (g + node.get("alpha") * v if node.get("mode") == "nesterov" else v), v


def _gradient(run: Any, node: Any, values: Any, *inputs: Any) -> Any:
    """The gradients of a value of the graph, computed again from these inputs, by some of them."""
    xs, y = node.get("xs"), node.get("y")
    names = [*xs, *(node.get("zs") or [])]
    with core.force_backprop_mode():
        # each begins a history of its own, so that none is reached through another
        starts = [F.identity(x) if x.requires_grad else core.Variable(x.array) for x in inputs]
        given = dict(zip(names, starts, strict=True))
        kept = tuple([n for n in run.within.nodes if given.keys().isdisjoint(n.outputs)])
        graph = run.within._replace(nodes=kept, outputs=(y,))
        (made,) = run.graph(graph, {**values, **given})
        wanted = starts[: len(xs)]
        found = core.grad([F.sum(made)], wanted, enable_double_backprop=True)
    return [x * 0 if g is None else g for x, g in zip(wanted, found, strict=True)]


OPERATORS: dict[str, Any] = {
    "ai.onnx.preview.training.Adagrad": _stepped(1, _adagrad),
    "ai.onnx.preview.training.Adam": _stepped(2, _adam),
    "ai.onnx.preview.training.Gradient": _gradient,
    "ai.onnx.preview.training.Momentum": _stepped(1, _momentum),
}
