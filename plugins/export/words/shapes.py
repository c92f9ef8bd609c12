"""The same elements in other shapes and other places."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from core.programs import Equation
from plugins.export.graph import Graph, Translation, argument
from plugins.export.sizes import Dim
from plugins.export.words.reductions import axes_of


def _reshape(g: Graph, e: Equation) -> list[str]:
    texts = [arg for arg in e.args[1:] if isinstance(arg, str)]
    order = e.kwargs.get("order", texts[0] if texts else "C")
    if order != "C":
        raise g.refuse(e, f"it takes the elements in order {order!r}")
    return [g.reshape(g.operand(e.args[0]), e.outputs[0].shape)]


def _broadcast_to(g: Graph, e: Equation) -> list[str]:
    return [g.expand(g.operand(e.args[0]), e.outputs[0].shape)]


def _reordered(g: Graph, e: Equation) -> list[str]:
    """Axes in another order, which NumPy finds on an array whose axes tell themselves."""
    x = e.args[0]
    marks = np.empty(tuple(range(2, 2 + len(x.shape))), dtype=bool)
    function = e.call.found(_host())
    order = [n - 2 for n in function(marks, *e.args[1:], **e.kwargs).shape]
    return [g.transpose(g.operand(x), order)]


def _host() -> Any:
    from core.arrays.backend import host

    return host()


def _concat(g: Graph, e: Equation) -> list[str]:
    arrays, axis = e.args[0], argument(e, 1, "axis", 0)
    dtype = e.outputs[0].dtype
    names = [g.operand(x, dtype) for x in arrays]
    if axis is None:
        names, axis = [g.reshape(name, (-1,)) for name in names], 0
    return [g.add("Concat", *names, axis=axis)]


def _stack(g: Graph, e: Equation) -> list[str]:
    arrays, axis = e.args[0], argument(e, 1, "axis", 0)
    at = g.constant([axis], "int64")
    names = [g.add("Unsqueeze", g.operand(x, e.outputs[0].dtype), at) for x in arrays]
    return [g.add("Concat", *names, axis=axis)]


def _tile(g: Graph, e: Equation) -> list[str]:
    x, reps = e.args[0], e.args[1]
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    ndim = max(len(reps), len(x.shape))
    name = g.reshape(g.operand(x), (1,) * (ndim - len(x.shape)) + tuple(x.shape))
    return [g.add("Tile", name, g.integers((1,) * (ndim - len(reps)) + reps))]


def _repeat(g: Graph, e: Equation) -> list[str]:
    x, times = e.args[0], e.args[1]
    axis = argument(e, 2, "axis")
    times = int(times) if isinstance(times, np.integer) else times
    if not isinstance(times, int):
        raise g.refuse(e, "it repeats each element another number of times")
    shape = list(x.shape) if axis is not None else [prod(x.shape)]
    axis = 0 if axis is None else axis % len(shape)
    name = g.reshape(g.operand(x), (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    name = g.expand(name, (*shape[: axis + 1], times, *shape[axis + 1 :]))
    return [g.reshape(name, e.outputs[0].shape)]


def _flip(g: Graph, e: Equation) -> list[str]:
    x, axis, _ = axes_of(e)
    axes = range(len(x.shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    name = g.operand(x)
    if not list(axes):
        return [name]
    n, ends = len(list(axes)), np.iinfo("int64")
    starts, stops = [g.constant([k] * n, "int64") for k in (ends.max, ends.min)]
    return [g.add("Slice", name, starts, stops, g.integers(list(axes)), g.integers([-1] * n))]


def _roll(g: Graph, e: Equation) -> list[str]:
    x, shift = e.args[0], e.args[1]
    axis = argument(e, 2, "axis")
    name = g.operand(x)
    if axis is None:
        name, shape, axis = g.reshape(name, (-1,)), [prod(x.shape)], 0
    else:
        shape = list(x.shape)
    for by, along in np.broadcast(shift, axis):
        n = shape[along]
        if isinstance(n, Dim):
            raise g.refuse(e, "it is along an axis of open size")
        name = g.gather(name, (np.arange(n) - by) % max(n, 1), int(along))
    return [g.reshape(name, x.shape)]


def _triangle(upper: int) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        k = argument(e, 1, "k", 0)
        name = g.operand(e.args[0])
        if len(e.args[0].shape) < 2:  # NumPy makes a matrix of a vector
            name = g.expand(name, e.outputs[0].shape)
        return [g.add("Trilu", name, g.number(k, "int64"), upper=upper)]

    return translation


WORDS: dict[str, Translation] = {
    "reshape": _reshape,
    "expand_dims": _reshape,
    "squeeze": _reshape,
    "ravel": _reshape,
    "flatten": _reshape,
    "broadcast_to": _broadcast_to,
    **dict.fromkeys(
        ("permute_dims", "transpose", "matrix_transpose", "moveaxis", "swapaxes", "T", "mT"),
        _reordered,
    ),
    "concat": _concat,
    "concatenate": _concat,
    "stack": _stack,
    "tile": _tile,
    "repeat": _repeat,
    "flip": _flip,
    "roll": _roll,
    "triu": _triangle(1),
    "tril": _triangle(0),
}
