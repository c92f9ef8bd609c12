"""Sums and the like over axes, and along them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from core.programs import Equation, Value
from plugins.export.graph import Graph, Translation, argument
from plugins.export.sizes import Dim


def axes_of(e: Equation, usual: int | None = None) -> tuple[Value, Any, bool]:
    """The array, its axes as they are given, and whether they are kept."""
    x, axis = e.args[0], argument(e, 1, "axis", usual)
    if isinstance(axis, np.integer):
        axis = int(axis)
    if not x.shape:  # NumPy takes axis 0, ONNX no axis at all
        axis = None
    return x, axis, bool(e.kwargs.get("keepdims", False))


def _reduce(op: str, asks: bool = False, counts: bool = False) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        x, axis, keepdims = axes_of(e)
        dtype = e.outputs[0].dtype
        logical = asks or dtype.kind == "b"  # the largest of truth values says whether one is true
        truths = logical or counts
        name = g.operand(x, bool if truths else dtype)
        name = g.cast(name, "int32" if logical else dtype) if truths else name
        axes = [] if axis is None else [axis] if isinstance(axis, int) else axis
        given = [g.integers(axes)] if axes else []
        if axis != ():
            name = g.add(op, name, *given, keepdims=int(keepdims))
        # Of no elements the largest is the lowest integer, and not 0.
        return [g.add("Greater", name, g.constant(0, "int32"), dtype=bool) if logical else name]

    return translation


def _arg(op: str) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        x, axis, keepdims = axes_of(e)
        name = g.operand(x)
        if g.dtype(name).kind == "b":
            name = g.cast(name, "int32")
        if axis is None:
            name, axis = g.reshape(name, (-1,)), 0
            keepdims = False
        found = g.add(op, name, dtype="int64", axis=axis, keepdims=int(keepdims))
        return [g.cast(g.reshape(found, e.outputs[0].shape), e.outputs[0].dtype)]

    return translation


def _variance(g: Graph, e: Equation) -> list[str]:
    x, axis, keepdims = axes_of(e)
    dtype = e.outputs[0].dtype
    name = g.operand(x, dtype)
    axes = list(range(len(x.shape))) if axis is None else [axis] if isinstance(axis, int) else axis
    given, none = g.integers(axes), {} if axes else {"noop_with_empty_axes": 1}
    apart = g.add("Sub", name, g.add("ReduceMean", name, given, keepdims=1, **none))
    square = g.add("Mul", apart, apart)
    found = g.add("ReduceMean", square, given, keepdims=int(keepdims), **none)
    less = e.kwargs.get("correction", e.kwargs.get("ddof", 0))
    if less:
        count = prod([x.shape[i] for i in axes])
        found = g.add("Mul", found, g.number(count, dtype))
        found = g.add("Div", found, g.number(count - less, dtype))
    return [g.add("Sqrt", found) if e.call.name.endswith("std") else found]


def _along(g: Graph, e: Equation) -> tuple[str, int, int]:
    """The array, in a row where there is no axis, an axis, and how long that is."""
    x, axis, _ = axes_of(e)
    name = g.operand(x, e.outputs[0].dtype)
    if axis is None:
        return g.reshape(name, (-1,)), 0, prod(x.shape)
    return name, axis, x.shape[axis]


def _cumulative_sum(g: Graph, e: Equation) -> list[str]:
    if e.kwargs.get("include_initial"):
        raise g.refuse(e, "it begins with 0")
    name, axis, _ = _along(g, e)
    return [g.add("CumSum", name, g.constant(axis, "int64"))]


def _cumulative_product(g: Graph, e: Equation) -> list[str]:
    name, axis, n = _along(g, e)
    rank = len(e.outputs[0].shape)
    if isinstance(n, Dim):
        return [_of_those_before(g, name, axis % rank, rank, n)]
    if n > 256:
        raise g.refuse(e, "it is along an axis of more than 256")
    if n == 0:
        return [name]
    found = [g.gather(name, [0], axis)]
    for i in range(1, n):
        found.append(g.add("Mul", found[-1], g.gather(name, [i], axis)))
    return [g.add("Concat", *found, axis=axis)]


def _of_those_before(g: Graph, name: str, axis: int, rank: int, n: Dim) -> str:
    """The products of the elements up to each: of all, where those behind it stand for 1."""
    numbers = g.add("Range", *[g.number(x, "int64") for x in (0, n, 1)])
    after = list(range(1, rank - axis))
    last = g.add("Unsqueeze", numbers, g.integers([1, *[i + 1 for i in after]]))
    each = g.add("Unsqueeze", numbers, g.integers(after)) if after else numbers
    before = g.add("LessOrEqual", each, last, dtype=bool)
    several = g.add("Unsqueeze", name, g.integers([axis]))
    one = g.constant(1, g.dtype(name))
    chosen = g.add("Where", before, several, one, dtype=g.dtype(name))
    return g.add("ReduceProd", chosen, g.integers([axis + 1]), keepdims=0)


WORDS: dict[str, Translation] = {
    "sum": _reduce("ReduceSum"),
    "mean": _reduce("ReduceMean"),
    "max": _reduce("ReduceMax"),
    "min": _reduce("ReduceMin"),
    "prod": _reduce("ReduceProd"),
    "any": _reduce("ReduceMax", asks=True),
    "all": _reduce("ReduceMin", asks=True),
    "count_nonzero": _reduce("ReduceSum", counts=True),
    "argmax": _arg("ArgMax"),
    "argmin": _arg("ArgMin"),
    "var": _variance,
    "std": _variance,
    "cumulative_sum": _cumulative_sum,
    "cumulative_prod": _cumulative_product,
    "cumsum": _cumulative_sum,
    "cumprod": _cumulative_product,
}
