"""Equations, inverses and Cholesky's factors of small matrices, by elimination step by step.

ONNX has no operators for them. A singular matrix, which is an error here, gives infinities or NaN
there; so does one without Cholesky's factor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.programs import Equation
from plugins.export.graph import Graph, Translation
from plugins.export.sizes import Dim

LARGEST = 32
"""Rows of a matrix that is eliminated: each is written as a step of its own."""


class _Step(NamedTuple):
    """One step of an elimination: the matrix after it, its pivot, and whether rows changed."""

    matrix: str
    pivot: str
    swapped: str


def _rows(g: Graph, e: Equation) -> int:
    n = e.args[0].shape[-1]
    if isinstance(n, Dim) or n > LARGEST:
        raise g.refuse(
            e, f"ONNX has no operator for it, and steps are written for {LARGEST} rows at most"
        )
    return int(n)


def _part(g: Graph, name: str, axis: int, start: int, stop: int) -> str:
    ends = [g.constant([each], "int64") for each in (start, stop, axis)]
    return g.add("Slice", name, *ends)


def _step(g: Graph, name: str, k: int, n: int) -> _Step:
    """Make column k that of the unit matrix (Gauss and Jordan), by the largest pivot below."""
    dtype = g.dtype(name)
    below = g.add("Abs", _part(g, _part(g, name, -1, k, k + 1), -2, k, n))
    found = g.add("ArgMax", below, dtype="int64", axis=-2, keepdims=1)
    place = g.add("Add", found, g.constant(k, "int64"))
    rows = g.constant(np.arange(n)[:, None], "int64")
    here = g.constant(np.arange(n)[:, None] == k)
    there = g.add("Equal", rows, place, dtype=bool)
    zero, one = g.constant(0, dtype), g.constant(1, dtype)
    chosen = g.add("Where", there, name, zero, dtype=dtype)
    upper = g.add("ReduceSum", chosen, g.constant([-2], "int64"), keepdims=1)
    lower = _part(g, name, -2, k, k + 1)
    name = g.add("Where", here, upper, g.add("Where", there, lower, name, dtype=dtype), dtype=dtype)
    pivot = _part(g, upper, -1, k, k + 1)
    none = g.add("Equal", pivot, zero, dtype=bool)
    row = g.add("Div", upper, g.add("Where", none, one, pivot, dtype=dtype))
    rest = g.add("Sub", name, g.add("Mul", _part(g, name, -1, k, k + 1), row))
    swapped = g.add("Not", g.add("Equal", place, g.constant(k, "int64"), dtype=bool))
    return _Step(g.add("Where", here, row, rest, dtype=dtype), pivot, swapped)


def _solved(g: Graph, n: int, a: str, b: str) -> str:
    name = g.add("Concat", a, b, axis=-1)
    pivots = []
    for k in range(n):
        name, pivot, _ = _step(g, name, k, n)
        pivots.append(pivot)
    y = _part(g, name, -1, n, np.iinfo("int64").max)
    return g.add("Div", y, _regular(g, pivots))


def _regular(g: Graph, pivots: list[str]) -> str:
    """1, and 0 where a pivot is."""
    dtype = g.dtype(pivots[0])
    least = g.add("Min", *[g.add("Abs", pivot) for pivot in pivots])
    return g.add("Sign", least, dtype=dtype)


def _inv(g: Graph, e: Equation) -> list[str]:
    n, dtype = _rows(g, e), e.outputs[0].dtype
    a = g.operand(e.args[0], dtype)
    unit = g.expand(g.constant(np.eye(n), dtype), e.outputs[0].shape)
    return [_solved(g, n, a, unit) if n else a]


def _solve(g: Graph, e: Equation) -> list[str]:
    n, dtype = _rows(g, e), e.outputs[0].dtype
    a, b = (g.operand(x, dtype) for x in e.args[:2])
    lead = e.outputs[0].shape[:-2]
    if tuple(e.args[0].shape[:-2]) != tuple(lead) or len(e.args[1].shape) != len(lead) + 2:
        raise g.refuse(e, "its systems are broadcast")
    return [_solved(g, n, a, b) if n else b]


def _slogdet(g: Graph, e: Equation) -> list[str]:
    n, out = _rows(g, e), e.outputs[0]
    name = g.operand(e.args[0], out.dtype)
    sign, size = (g.full(out.shape, value, out.dtype) for value in (1, 0))
    for k in range(n):
        name, pivot, swapped = _step(g, name, k, n)
        ends = [g.constant(each, out.dtype) for each in (-1, 1)]
        turn = g.add("Where", swapped, *ends, dtype=out.dtype)
        turn = g.add("Mul", turn, g.add("Sign", pivot))
        sign = g.add("Mul", sign, g.reshape(turn, out.shape))
        size = g.add("Add", size, g.reshape(g.add("Log", g.add("Abs", pivot)), out.shape))
    return [sign, size]


def _cholesky(g: Graph, e: Equation) -> list[str]:
    n, dtype = _rows(g, e), e.outputs[0].dtype
    if e.kwargs.get("upper"):
        raise g.refuse(e, "it is the upper factor")
    name: Any = g.operand(e.args[0], dtype)
    columns = []
    for k in range(n):
        column = _part(g, name, -1, k, k + 1)
        root = g.add("Sqrt", _part(g, column, -2, k, k + 1))
        kept = g.constant(np.arange(n)[:, None] >= k)
        found = g.add("Where", kept, g.add("Div", column, root), g.constant(0, dtype), dtype=dtype)
        columns.append(found)
        order = [*range(len(e.args[0].shape))]
        across = g.transpose(found, [*order[:-2], order[-1], order[-2]])
        name = g.add("Sub", name, g.add("MatMul", found, across))
    return [g.add("Concat", *columns, axis=-1) if columns else name]


WORDS: dict[str, Translation] = {
    "linalg.cholesky": _cholesky,
    "linalg.inv": _inv,
    "linalg.slogdet": _slogdet,
    "linalg.solve": _solve,
}
