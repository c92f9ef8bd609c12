"""The array standard's namespace: array-api-compat's, but where PyTorch's own function will do.

Operations never mix dtypes, so that the promotion which array-api-compat adds to PyTorch's
functions of two arrays is needed for arrays without dimensions alone.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from array_api_compat import torch as compat
from torch import Tensor


def _of_two(own: Callable[..., Any], careful: Callable[..., Any]) -> Callable[..., Any]:
    """PyTorch's function for two tensors of one dtype, else array-api-compat's."""

    def function(x1: Any, x2: Any, /) -> Any:
        if type(x1) is Tensor and type(x2) is Tensor and x1.dtype is x2.dtype:
            return own(x1, x2)
        return careful(x1, x2)

    return function


def _reduced(own: Callable[..., Any], careful: Callable[..., Any]) -> Callable[..., Any]:
    """PyTorch's reduction over axes that are named, else array-api-compat's."""

    def function(x: Any, /, *, axis: Any = None, keepdims: bool = False, **dtype: Any) -> Any:
        if axis is None or axis == () or dtype:
            return careful(x, axis=axis, keepdims=keepdims, **dtype)
        return own(x, axis, keepdims)

    return function


def sign(x: Any, /) -> Any:
    """-1, 0 or 1; NaN of NaN."""
    found = torch.sgn(x)
    return torch.where(torch.isnan(x), x, found) if x.is_floating_point() else found


def take(x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    """The parts that integers of any dtype name along an axis."""
    return compat.take(x, indices.long(), axis=axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """The elements that integers of any dtype name along an axis."""
    return compat.take_along_axis(x, indices.long(), axis=axis)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements are not 0; along no axes, of each whether it is, as PyTorch's does not."""
    return NAMESPACE.sum((x != 0).long(), axis=axis, keepdims=keepdims)


OWN: dict[str, Any] = {
    name: _of_two(getattr(torch, own), getattr(compat, name))
    for name, own in {
        "add": "add",
        "divide": "divide",
        "matmul": "matmul",
        "maximum": "maximum",
        "minimum": "minimum",
        "multiply": "multiply",
        "subtract": "subtract",
        "equal": "eq",
        "greater": "gt",
        "less": "lt",
    }.items()
}
OWN |= {
    name: _reduced(own, getattr(compat, name))
    for name, own in {
        "sum": torch.sum,
        "mean": torch.mean,
        "max": torch.amax,
        "min": torch.amin,
    }.items()
}
OWN |= {
    "count_nonzero": count_nonzero,
    "matrix_transpose": lambda x, /: x.mT,
    "permute_dims": torch.permute,
    "sign": sign,
    "take": take,
    "take_along_axis": take_along_axis,
}

NAMESPACE: Any = SimpleNamespace(
    **{name: getattr(compat, name) for name in dir(compat) if not name.startswith("__")},
    __array_namespace_info__=compat.__array_namespace_info__,
)
vars(NAMESPACE).update(OWN)
