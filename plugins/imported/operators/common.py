"""What operators share: the namespace of a Variable, and its elements where shapes need them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from core import Variable
from core import functions as F

DTYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
}
"""ONNX's numbers of dtypes."""


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """An operator that needs neither the run nor values around it: of node and inputs."""

    @wraps(function)
    def operator(run: Any, node: Any, values: Any, *inputs: Any) -> Any:
        return function(node, *inputs)

    return operator


def xp_of(x: Variable) -> Any:
    """The differentiable array functions."""
    return x.__array_namespace__()


def host(x: Variable) -> Any:
    """The elements as a NumPy array."""
    return np.asarray(x.backend.to_host(x.array))


def ints(x: Variable) -> list[int]:
    """The elements as Python's integers."""
    return [int(n) for n in host(x).reshape(-1)]


def like(x: Variable, array: Any) -> Variable:
    """A host array where x is."""
    from core import as_variable

    return as_variable(x.backend.asarray(array, device=x.device))


def cast(x: Variable, dtype: str) -> Variable:
    """Elements of another dtype."""
    if x.dtype == x.backend.dtype(dtype):
        return x
    kinds = "fc"
    if x.backend.kind(x.dtype) in kinds and np.dtype(dtype).kind in kinds:
        return F.cast(x, dtype)
    return like(x, host(x).astype(dtype))


def dtype_name(number: int) -> str:
    """The name of a dtype; refused where arrays here have none such."""
    if number not in DTYPES:
        raise NotImplementedError(f"the dtype of number {number}")
    return DTYPES[number]


def is_float(x: Variable) -> bool:
    """Whether elements are floating."""
    return bool(x.backend.kind(x.dtype) in "f")


def axes_of(node: Any, given: Variable | None, default: Any = None) -> Any:
    """Axes, which are an input or, in earlier opsets, a setting."""
    if given is not None:
        return tuple(ints(given))
    found = node.get("axes")
    return default if found is None else tuple(found)
