"""What operators share: the namespace of a Variable, and its elements where shapes need them.

A value of a model is a Variable, a sequence of values (a list), text (a host array of strings), or
None, an optional value that is not there. Operators return a list of results, or one Variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from core import Variable
from core import functions as F
from plugins.extras import need

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
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "uint2",
    26: "int2",
}
"""ONNX's numbers of dtypes; those from 16 on are ml_dtypes's."""

FLOATING = ("float16", "float32", "float64", "bfloat16")
"""Dtypes of arrays that have gradients."""

LARGEST = 1 << 27
"""Elements of an array whose size comes from numbers in the model."""


class Refused(Exception):
    """What an operator refuses, in words; who runs it says which one it is."""


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


def sized(shape: Sequence[Any]) -> tuple[int, ...]:
    """The shape that numbers in a model ask for, before an array is made of it."""
    found = tuple([int(n) for n in shape])
    if min(found, default=0) < 0 or math.prod(found) > LARGEST:
        raise Refused(f"expected an array of at most {LARGEST} elements, got the shape {found}")
    return found


def parts_of(x: Variable, axis: int, sizes: Sequence[int]) -> list[Variable]:
    """Parts of so many elements along an axis, one after the other."""
    before, ends = (slice(None),) * axis, [0, *accumulate(sizes)]
    return [x[(*before, slice(a, b))] for a, b in pairwise(ends)]


def cast(x: Variable, dtype: str) -> Variable:
    """Elements of another dtype."""
    name = dtype_of(x)
    if name == dtype:
        return x
    known = (*FLOATING, "complex64", "complex128")
    if name in known and dtype in known:
        return F.cast(x, dtype)
    return like(x, host(x).astype(host_dtype(dtype)))


def dtype_of(x: Variable) -> str:
    """The name of the dtype."""
    return str(x.backend.dtype_name(x.dtype))


def dtype_name(number: int) -> str:
    """The name of a dtype; refused where arrays here have none such."""
    if number not in DTYPES:
        raise NotImplementedError(f"the dtype of number {number}")
    return DTYPES[number]


def host_dtype(name: str) -> Any:
    """NumPy's dtype of a name, or ml_dtypes's, which comes with onnx."""
    if name in ("bool", *FLOATING[:3]) or name.startswith("complex"):
        return np.dtype(name)
    return np.dtype(getattr(need("ml_dtypes", "onnx", "links.ONNXModel"), name, name))


def is_float(x: Variable) -> bool:
    """Whether elements are floating."""
    return dtype_of(x) in FLOATING


def axes_of(node: Any, given: Variable | None) -> Any:
    """Axes, an input or, in earlier opsets, a setting; None where there are none."""
    if given is not None:
        return tuple(ints(given))
    found = node.get("axes")
    return None if found is None else tuple(found)
