"""Integers that stand for numbers: y = (x - zero point) scale.

Products of integers are computed in float64, which holds them exactly. Gradients reach the scales
that integers are multiplied by; rounding has none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plugins.imported.operators.casting import saturated
from plugins.imported.operators.common import (
    Refused,
    cast,
    dtype_name,
    dtype_of,
    host,
    like,
    plain,
    xp_of,
)


def _spread(xp: Any, node: Any, shape: Any, each: Any) -> Any:
    """Scales or zero points as they are broadcast: one, one along an axis, or one for a block."""
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    if each.ndim == 0 or (each.size == 1 and not block):
        return xp.reshape(each, ())
    axis %= len(shape)
    if each.ndim == 1 and len(shape) > 1 and not block:
        return xp.reshape(each, tuple([-1 if i == axis else 1 for i in range(len(shape))]))
    if not block:
        return each
    if not 0 < block <= shape[axis]:
        raise Refused(f"expected blocks of at most {shape[axis]}, got {block}")
    whole = xp.repeat(each, block, axis=axis)
    return whole[(slice(None),) * axis + (slice(shape[axis]),)]


def _centred(node: Any, x: Any, zero: Any) -> Any:
    """The integers less their zero point, on the host, in float64."""
    a = host(x).astype("f8")
    return a if zero is None else a - _spread(np, node, x.shape, host(zero).astype("f8"))


def _result(node: Any, zero: Any) -> str:
    """The dtype of what is quantized."""
    if node.get("output_dtype", 0):
        return dtype_name(node.get("output_dtype"))
    return "uint8" if zero is None else dtype_of(zero)


@plain
def _quantize(node: Any, x: Any, scale: Any, zero: Any = None) -> Any:
    name, a = _result(node, zero), host(x)
    s = _spread(np, node, x.shape, host(scale))
    wide = "f8" if "f8" in (a.dtype.str[1:], s.dtype.str[1:]) else "f4"
    y = a.astype(wide) / s.astype(wide)
    if "int" in name:
        y = np.rint(y)
    if zero is not None:
        y = y + _spread(np, node, x.shape, host(zero).astype(wide))
    return like(x, saturated(y, name))


@plain
def _dequantize(node: Any, x: Any, scale: Any, zero: Any = None) -> Any:
    name = dtype_name(node.get("output_dtype")) if node.get("output_dtype") else dtype_of(scale)
    wide = "float64" if dtype_of(scale) == "float64" else "float32"
    apart = like(x, _centred(node, x, zero).astype(wide))
    return cast(apart * _spread(xp_of(scale), node, x.shape, cast(scale, wide)), name)


@plain
def _dynamic(node: Any, x: Any) -> Any:
    """Quantize to uint8 by the extremes of the input, with 0 among them."""
    a = host(x)
    low, high = np.minimum(a.min(initial=0), 0), np.maximum(a.max(initial=0), 0)
    scale = np.float32((high - low) / 255)
    if scale == 0:
        scale = np.float32(1)
    zero = np.rint(np.clip((0 - low) / scale, 0, 255))
    y = saturated(np.rint(a / scale) + zero, "uint8")
    return [like(x, each) for each in (y, scale, zero.astype("uint8"))]


def _rows(a: Any, zero: Any, axis: int) -> Any:
    """A matrix of integers less its zero point, of each row or column."""
    wide = host(a).astype("f8")
    if zero is None:
        return wide
    z = host(zero).astype("f8")
    if z.ndim == 1 and z.size > 1:
        z = np.expand_dims(z, -1 if axis == 0 else 0)
    return wide - (z.reshape(()) if z.size == 1 else z)


@plain
def _matmul(node: Any, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    return like(a, np.matmul(_rows(a, a_zero, 0), _rows(b, b_zero, 1)).astype("int32"))


def _factor(each: Any, axis: int) -> Any:
    """A scale as it is multiplied with rows or columns."""
    s = host(each).astype("f8")
    if s.size == 1:
        return s.reshape(())
    return np.expand_dims(s, -1 if axis == 0 else 0) if s.ndim == 1 else s


@plain
def _scaled_matmul(
    node: Any, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, *out: Any
) -> Any:
    y_scale, y_zero = out
    exact = np.matmul(_rows(a, a_zero, 0), _rows(b, b_zero, 1))
    y = exact * _factor(a_scale, 0) * _factor(b_scale, 1) / _factor(y_scale, 0)
    return like(a, saturated(np.rint(y) + _factor(y_zero, 0), dtype_of(y_zero)))


def _convolved(run: Any, node: Any, values: Any, x: Any, x_zero: Any, W: Any, W_zero: Any) -> Any:
    from plugins.imported.operators.layers import OPERATORS as LAYERS

    first = node._replace(settings={**node.settings, "axis": 0})
    exact = [like(x, _centred(first, each, z)) for each, z in ((x, x_zero), (W, W_zero))]
    return host(LAYERS["Conv"](run, node, values, *exact))


def _conv(
    run: Any, node: Any, values: Any, x: Any, W: Any, x_zero: Any = None, W_zero: Any = None
) -> Any:
    return like(x, np.rint(_convolved(run, node, values, x, x_zero, W, W_zero)).astype("int32"))


def _scaled_conv(
    run: Any,
    node: Any,
    values: Any,
    x: Any,
    x_scale: Any,
    x_zero: Any,
    W: Any,
    W_scale: Any,
    W_zero: Any,
    *out: Any,
) -> Any:
    y_scale, y_zero, *bias = out
    exact = _convolved(run, node, values, x, x_zero, W, W_zero)
    channels = (1, -1, *(1,) * (x.ndim - 2))
    if bias and bias[0] is not None:
        exact = exact + host(bias[0]).astype("f8").reshape(channels)
    factor = host(W_scale).astype("f8").reshape(channels) * host(x_scale).astype("f8")
    y = exact * factor / host(y_scale).astype("f8") + 0
    return like(x, saturated(np.rint(y) + host(y_zero).astype("f8"), dtype_of(y_zero)))


OPERATORS: dict[str, Any] = {
    "ConvInteger": _conv,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic,
    "MatMulInteger": _matmul,
    "QLinearConv": _scaled_conv,
    "QLinearMatMul": _scaled_matmul,
    "QuantizeLinear": _quantize,
}
