"""Arrays that are made: of one number, of numbers in order, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.programs import Equation
from plugins.export.graph import Graph, Translation, argument
from plugins.export.sizes import Dim


def _full(value: Any) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        given = argument(e, 1, "fill_value")
        filled = given if value is None else value
        return [g.full(e.outputs[0].shape, filled, e.outputs[0].dtype)]

    return translation


_RANGES = {"float32", "float64", "int16", "int32", "int64"}
"""What ONNX's Range is of; others are cast."""


def _arange(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    args = (*e.args, None) if len(e.args) == 1 else e.args
    args = args if args[1] is not None else (0, args[0], *args[2:])
    start, stop, step = (*args, e.kwargs.get("step", 1))[:3]
    wide = dtype if dtype.name in _RANGES else "float32" if dtype.kind in "fV" else "int64"
    return [g.cast(g.add("Range", *[g.number(x, wide) for x in (start, stop, step)]), dtype)]


def _eye(g: Graph, e: Equation) -> list[str]:
    (rows, columns), dtype = e.outputs[0].shape, e.outputs[0].dtype
    k = e.kwargs.get("k", 0)
    if isinstance(rows, Dim) or isinstance(columns, Dim):
        like = g.full((rows, columns), 0, "float32")
        return [g.cast(g.add("EyeLike", like, k=k), dtype)]
    return [g.constant(np.eye(rows, columns, k, dtype=dtype))]


def _linspace(g: Graph, e: Equation) -> list[str]:
    out = e.outputs[0]
    if isinstance(out.shape[0], Dim) or e.inputs:
        raise g.refuse(e, "its ends or its length are not known")
    return [g.constant(np.linspace(*e.args, **e.kwargs), out.dtype)]


def _asarray(g: Graph, e: Equation) -> list[str]:
    x, dtype = e.args[0], e.outputs[0].dtype
    if isinstance(x, (list, tuple)):
        names = [g.reshape(g.operand(part, dtype), (1,)) for part in x]
        return [g.add("Concat", *names, axis=0)]
    return [g.operand(x, dtype)]


def _drawn(g: Graph, e: Equation) -> list[str]:
    out = e.outputs[0]
    if e.call.name in ("permutation", "integers"):
        raise g.refuse(e)
    floating = out.dtype if out.dtype.kind == "f" else np.dtype("float32")
    like = g.full(out.shape, 0, floating)
    if e.call.name == "normal":
        return [g.add("RandomNormalLike", like)]
    if e.call.name == "bernoulli":
        drawn = g.add("RandomUniformLike", like)
        return [g.add("GreaterOrEqual", drawn, g.constant(1 - e.args[0], floating), dtype=bool)]
    low, high = e.args[2:4] if len(e.args) > 3 else (0.0, 1.0)
    return [g.add("RandomUniformLike", like, low=float(low), high=float(high))]


WORDS: dict[str, Translation] = {
    "asarray": _asarray,
    "zeros": _full(0),
    "zeros_like": _full(0),
    "ones": _full(1),
    "ones_like": _full(1),
    "empty": _full(0),
    "empty_like": _full(0),
    "full": _full(None),
    "full_like": _full(None),
    "arange": _arange,
    "eye": _eye,
    "linspace": _linspace,
    **dict.fromkeys(("uniform", "normal", "bernoulli", "permutation", "integers"), _drawn),
}
