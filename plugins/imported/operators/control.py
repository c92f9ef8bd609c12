"""Operators that run graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import Refused, host


def inner(run: Any, graph: Any, values: Any, given: dict[str, Any]) -> list[Any]:
    """The outputs of a graph within another, whose values it sees."""
    here = {**values, **{name: run.constant(a) for name, a in graph.arrays.items()}, **given}
    return run.graph(graph, here)  # type: ignore[no-any-return]


def _if(run: Any, node: Any, values: Any, condition: Any) -> Any:
    branch = "then_branch" if bool(host(condition).reshape(-1)[0]) else "else_branch"
    return inner(run, node.get(branch), values, {})


def _loop(run: Any, node: Any, values: Any, count: Any, condition: Any, *carried: Any) -> Any:
    body = node.get("body")
    most = math.inf if count is None else int(host(count).reshape(-1)[0])
    going = True if condition is None else bool(host(condition).reshape(-1)[0])
    state, gathered, i = list(carried), [], 0
    while going and i < most:
        run.step()
        start = [run.constant(np.asarray(i, "int64")), run.constant(np.asarray(going)), *state]
        found = inner(run, body, values, dict(zip(body.inputs, start, strict=False)))
        going = bool(host(found[0]).reshape(-1)[0])
        state = found[1 : 1 + len(carried)]
        gathered.append(found[1 + len(carried) :])
        i += 1
    if not gathered and len(body.outputs) > 1 + len(carried):
        raise NotImplementedError("a loop of no steps that gathers")
    return [*state, *[_stacked(list(each)) for each in zip(*gathered, strict=True)]]


def _stacked(parts: list[Any]) -> Any:
    return parts[0].__array_namespace__().stack(parts)


def _scan(run: Any, node: Any, values: Any, *inputs: Any) -> Any:
    if node.opset < 9:
        return _scan_batch(run, node, values, *inputs)
    body, n = node.get("body"), node.get("num_scan_inputs")
    if not 0 < n <= len(inputs):
        raise Refused(f"expected 1 to {len(inputs)} inputs to scan, got {n}")
    state, given = list(inputs[: len(inputs) - n]), inputs[len(inputs) - n :]
    axes = node.get("scan_input_axes") or [0] * n
    back = node.get("scan_input_directions") or [0] * n
    rows = [F.moveaxis(x, a, 0) if a else x for x, a in zip(given, axes, strict=True)]
    steps, gathered = rows[0].shape[0], []
    for i in range(steps):
        run.step()
        here = [x[steps - 1 - i if b else i] for x, b in zip(rows, back, strict=True)]
        names = dict(zip(body.inputs, [*state, *here], strict=True))
        found = inner(run, body, values, names)
        state = found[: len(state)]
        gathered.append(found[len(state) :])
    made = [list(each) for each in zip(*gathered, strict=True)]
    reverse = node.get("scan_output_directions") or [0] * len(made)
    along = node.get("scan_output_axes") or [0] * len(made)
    made = [each[::-1] if b else each for each, b in zip(made, reverse, strict=True)]
    outs = [_stacked(each) for each in made]
    outs = [F.moveaxis(y, 0, a) if a else y for y, a in zip(outs, along, strict=True)]
    return [*state, *outs]


def _scan_batch(run: Any, node: Any, values: Any, lengths: Any, *inputs: Any) -> Any:
    """Scan of opset 8: of each example of a batch, which is the first axis of all."""
    if lengths is not None:
        raise NotImplementedError("a batch of sequences of several lengths")
    newer = node._replace(opset=9)
    rows = [_scan(run, newer, values, *[x[i] for x in inputs]) for i in range(inputs[0].shape[0])]
    return [_stacked(list(each)) for each in zip(*rows, strict=True)]


OPERATORS: dict[str, Any] = {"If": _if, "Loop": _loop, "Scan": _scan}
