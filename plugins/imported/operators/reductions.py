"""Operators that reduce, normalize over, or accumulate along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import (
    axes_of,
    cast,
    dtype_of,
    host,
    ints,
    is_float,
    like,
    plain,
    xp_of,
)


def _over(function: Any) -> Any:
    """A reduction; `function(xp, x, axis, keepdims)`."""

    def operator(node: Any, x: Any, axes: Any = None) -> Any:
        axis = axes_of(node, axes)
        if not axis:
            if node.get("noop_with_empty_axes", 0):
                return function(xp_of(x), x, (), True)
            axis = tuple(range(x.ndim))
        axis = tuple([a % max(x.ndim, 1) for a in axis])
        return function(xp_of(x), x, axis, bool(node.get("keepdims", 1)))

    return plain(operator)


def _summed(before: Any = None, after: Any = None) -> Any:
    def reduce(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
        dtype = x.dtype
        found = x if before is None else before(xp, x)
        if axis:
            found = xp.sum(found, axis=axis, keepdims=keepdims, dtype=dtype)
        return found if after is None else after(xp, found)

    return _over(reduce)


def _extreme(name: str) -> Any:
    def reduce(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
        if not axis:
            return x
        a = host(x)
        if 0 in [x.shape[i] for i in axis]:
            low = name == "max"
            if is_float(x):
                start: Any = -np.inf if low else np.inf
            elif a.dtype.kind == "b":
                start = not low
            else:
                start = np.iinfo(a.dtype).min if low else np.iinfo(a.dtype).max
            return like(x, getattr(np, name)(a, axis=axis, keepdims=keepdims, initial=start))
        if a.dtype.kind == "b":
            return getattr(xp, {"max": "any", "min": "all"}[name])(x, axis=axis, keepdims=keepdims)
        return getattr(xp, name)(x, axis=axis, keepdims=keepdims)

    return _over(reduce)


def _product(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return xp.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype) if axis else x


def _average(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return cast(xp.mean(x, axis=axis, keepdims=keepdims), dtype_of(x)) if axis else x


def _of_floats(function: Any) -> Any:
    """A function of floating numbers; of integers it is computed in these and cut off."""

    def applied(xp: Any, x: Any, *more: Any) -> Any:
        if is_float(x):
            return function(xp, x, *more)
        return cast(function(xp, cast(x, "float64"), *more), dtype_of(x))

    return applied


def _log_sum_exp(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    if not axis:
        return x
    if 0 in [x.shape[i] for i in axis]:
        return xp.log(xp.sum(xp.exp(x), axis=axis, keepdims=keepdims))
    found = F.logsumexp(x, axis=axis)
    if not keepdims:
        return found
    return F.reshape(found, [1 if i in axis else n for i, n in enumerate(x.shape)])


def _arg(name: str) -> Any:
    def operator(node: Any, x: Any) -> Any:
        axis, a = node.get("axis", 0), host(x)
        if node.get("select_last_index", 0):
            found = getattr(np, name)(np.flip(a, axis), axis=axis, keepdims=True)
            found = a.shape[axis] - 1 - found
        else:
            found = getattr(np, name)(a, axis=axis, keepdims=True)
        return like(x, found if node.get("keepdims", 1) else np.squeeze(found, axis))

    return plain(operator)


def _flattened(function: Any) -> Any:
    """Softmax and its like, which before opset 13 took all axes from `axis` on together."""

    def operator(node: Any, x: Any) -> Any:
        if node.opset >= 13:
            return function(x, node.get("axis", -1))
        axis = node.get("axis", 1) % max(x.ndim, 1)
        rows = int(np.prod(x.shape[:axis]))
        return F.reshape(function(F.reshape(x, (rows, -1)), 1), x.shape)

    return plain(operator)


def _hardmax(x: Any, axis: int) -> Any:
    a = host(x)
    found = np.zeros_like(a)
    np.put_along_axis(found, np.argmax(a, axis=axis, keepdims=True), 1, axis)
    return like(x, found)


def _cumulative(name: str, start: float) -> Any:
    def operator(node: Any, x: Any, axis: Any) -> Any:
        (along,) = ints(axis)
        along %= x.ndim
        xp = xp_of(x)
        if node.get("reverse", 0):
            x = xp.flip(x, axis=along)
        dtype = x.dtype
        y = getattr(xp, name)(x, axis=along, dtype=dtype)
        if node.get("exclusive", 0):
            first = xp.full_like(x[(slice(None),) * along + (slice(0, 1),)], start)
            y = xp.concat([first, y[(slice(None),) * along + (slice(0, -1),)]], axis=along)
        return xp.flip(y, axis=along) if node.get("reverse", 0) else y

    return plain(operator)


@plain
def _lp_normalization(node: Any, x: Any) -> Any:
    axis, p = node.get("axis", -1), node.get("p", 2)
    if p == 1:
        size = F.sum(F.absolute(x), axis=axis, keepdims=True)
    else:
        size = F.sqrt(F.sum(x * x, axis=axis, keepdims=True))
    zero = host(size) == 0
    return x / F.where(like(x, zero), size * 0 + 1, size)


OPERATORS: dict[str, Any] = {
    "ArgMax": _arg("argmax"),
    "ArgMin": _arg("argmin"),
    "CumProd": _cumulative("cumulative_prod", 1),
    "CumSum": _cumulative("cumulative_sum", 0),
    "Hardmax": _flattened(_hardmax),
    "LogSoftmax": _flattened(lambda x, axis: F.log_softmax(x, axis=axis)),
    "LpNormalization": _lp_normalization,
    "ReduceL1": _summed(lambda xp, x: xp.abs(x)),
    "ReduceL2": _summed(lambda xp, x: x * x, _of_floats(lambda xp, y: xp.sqrt(y))),
    "ReduceLogSum": _summed(None, _of_floats(lambda xp, y: xp.log(y))),
    "ReduceLogSumExp": _over(_of_floats(_log_sum_exp)),
    "ReduceMax": _extreme("max"),
    "ReduceMean": _over(_average),
    "ReduceMin": _extreme("min"),
    "ReduceProd": _over(_product),
    "ReduceSum": _summed(),
    "ReduceSumSquare": _summed(lambda xp, x: xp.multiply(x, x)),
    "Softmax": _flattened(lambda x, axis: F.softmax(x, axis=axis)),
}
