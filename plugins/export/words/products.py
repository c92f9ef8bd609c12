"""Products of matrices, determinants, and orders."""

from __future__ import annotations

from core.programs import Equation
from plugins.export.graph import Graph, Translation
from plugins.export.words.reductions import axes_of


def _matmul(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    return [g.add("MatMul", *[g.operand(x, dtype) for x in e.args[:2]])]


def _einsum(g: Graph, e: Equation) -> list[str]:
    text, *arrays = e.args
    if not isinstance(text, str):
        raise g.refuse(e, "its axes are given as numbers; write them as letters")
    dtype = e.outputs[0].dtype
    return [g.add("Einsum", *[g.operand(x, dtype) for x in arrays], equation=text)]


def _sorted(result: int) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        x, axis, _ = axes_of(e, -1)
        descending = e.kwargs.get("descending", False)
        name = g.operand(x, "uint8" if x.dtype.kind == "b" else None)
        if axis is None:
            name, axis = g.reshape(name, (-1,)), 0
        count = g.add("Gather", g.add("Shape", name, dtype="int64"), g.constant([axis], "int64"))
        settings = {"axis": axis, "largest": int(descending), "sorted": 1}
        found = g.add_several("TopK", 2, name, count, dtype=(None, "int64"), **settings)
        return [g.cast(found[result], e.outputs[0].dtype)]

    return translation


def _det(g: Graph, e: Equation) -> list[str]:
    return [g.add("Det", g.operand(e.args[0], e.outputs[0].dtype))]


WORDS: dict[str, Translation] = {
    "matmul": _matmul,
    "imatmul": _matmul,
    "einsum": _einsum,
    "linalg.det": _det,
    "sort": _sorted(0),
    "argsort": _sorted(1),
}
