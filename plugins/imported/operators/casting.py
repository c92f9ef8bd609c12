"""The same numbers, or the same bits, in another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugins.extras import need
from plugins.imported.operators.common import (
    Refused,
    cast,
    dtype_name,
    dtype_of,
    host,
    host_dtype,
    like,
    plain,
)

NARROW = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
"""Floating dtypes whose largest number stands for all that are larger, where a node says so."""


def saturated(a: Any, name: str) -> Any:
    """Numbers in a dtype, those beyond its ends at its ends."""
    kinds, dtype = need("ml_dtypes", "onnx", "links.ONNXModel"), host_dtype(name)
    whole = name.startswith(("int", "uint"))
    ends = kinds.iinfo(dtype) if whole else kinds.finfo(dtype)
    return np.clip(a, float(ends.min), float(ends.max)).astype(dtype)


def _cast_to(node: Any, x: Any, name: str) -> Any:
    if name in NARROW and node.get("saturate", 1):
        return like(x, saturated(host(x).astype("f8"), name))
    if name == "float8_e8m0fnu":
        convert = need("onnx.numpy_helper", "onnx", "links.ONNXModel").to_float8e8m0
        how = bool(node.get("saturate", 1)), node.get("round_mode", "up")
        return like(x, convert(host(x).astype("f4"), *how))
    return cast(x, name)


@plain
def _cast(node: Any, x: Any) -> Any:
    return _cast_to(node, x, dtype_name(node.get("to")))


@plain
def _cast_like(node: Any, x: Any, target: Any) -> Any:
    return _cast_to(node, x, dtype_of(target))


@plain
def _bit_cast(node: Any, x: Any) -> Any:
    dtype = host_dtype(dtype_name(node.get("to")))
    if dtype.itemsize != host(x).itemsize:
        raise Refused(f"expected a dtype of {host(x).itemsize} bytes, got {dtype}")
    return like(x, np.ascontiguousarray(host(x)).reshape(x.shape).view(dtype))


OPERATORS: dict[str, Any] = {"BitCast": _bit_cast, "Cast": _cast, "CastLike": _cast_like}
