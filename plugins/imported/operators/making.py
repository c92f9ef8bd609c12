"""Operators that make arrays: constants, and what is made of numbers and shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from plugins.imported.operators.common import (
    LARGEST,
    Refused,
    dtype_name,
    host,
    ints,
    like,
    plain,
    sized,
)


def _constant(run: Any, node: Any, values: Any) -> Any:
    for name, kind in (("float", "f"), ("int", "int64"), ("floats", "f"), ("ints", "int64")):
        if (value := node.get(f"value_{name}")) is not None:
            return run.constant(np.asarray(value, kind))
    if node.get("value") is None:
        raise NotImplementedError(f"a constant of {', '.join(node.settings)}")
    return run.constant(node.get("value"))


def _constant_of_shape(run: Any, node: Any, values: Any, shape: Any) -> Any:
    value = node.get("value")
    value = np.zeros(1, "f") if value is None else value
    return run.constant(np.full(sized(ints(shape)), value.reshape(-1)[0], value.dtype))


@plain
def _range(node: Any, start: Any, stop: Any, step: Any) -> Any:
    first, last, by = (host(each).reshape(-1)[0] for each in (start, stop, step))
    if by == 0:
        raise Refused("expected steps other than 0")
    steps = (float(last) - float(first)) / float(by)
    sized([min(max(math.ceil(steps), 0), LARGEST + 1)] if math.isfinite(steps) else [-1])
    return like(start, np.arange(first, last, by, dtype=host(start).dtype))


@plain
def _one_hot(node: Any, index: Any, depth: Any, values: Any) -> Any:
    n, (off, on) = int(host(depth).reshape(-1)[0]), host(values)
    places, axis = host(index), node.get("axis", -1)
    axis = axis if axis >= 0 else axis + places.ndim + 1
    places = np.where(places < 0, places + n, places)
    sized((*places.shape, n))
    shape = [1] * (places.ndim + 1)
    shape[axis] = n
    found = np.expand_dims(places, axis) == np.arange(n).reshape(shape)
    return like(values, np.where(found, on, off))


@plain
def _eye_like(node: Any, x: Any) -> Any:
    kind = node.get("dtype")
    dtype = x.backend.dtype_name(x.dtype) if kind is None else dtype_name(kind)
    return like(x, np.eye(x.shape[0], x.shape[1], node.get("k", 0), dtype=dtype))


OPERATORS: dict[str, Any] = {
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "EyeLike": _eye_like,
    "OneHot": _one_hot,
    "Range": _range,
    "Shape": plain(
        lambda node, x: like(x, np.array(x.shape[node.get("start", 0) : node.get("end")], "int64"))
    ),
    "Size": plain(lambda node, x: like(x, np.asarray(x.size, "int64"))),
}
