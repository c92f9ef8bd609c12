"""Operators on elements."""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import cast, host, is_float, like, plain, xp_of


def _standard(name: str) -> Any:
    """An operator that is a function of the array standard."""
    return plain(lambda node, *inputs: getattr(xp_of(inputs[0]), name)(*inputs))


def _applied(function: Any) -> Any:
    return plain(lambda node, x: function(x))


def _aligned(node: Any, x: Any, y: Any) -> Any:
    """The second input of opsets before 7, whose axes stand where `axis` says."""
    if node.opset < 7 and node.get("broadcast") and node.get("axis") is not None and y.ndim:
        after = x.ndim - node.get("axis") % x.ndim - y.ndim
        return F.reshape(y, (*y.shape, *(1,) * after))
    return y


def _binary(name: str) -> Any:
    return plain(lambda node, x, y: getattr(xp_of(x), name)(x, _aligned(node, x, y)))


@plain
def _divide(node: Any, x: Any, y: Any) -> Any:
    y = _aligned(node, x, y)
    if is_float(x):
        return x / y
    a, b = host(x), host(y)  # towards 0
    quotient = np.abs(a) // np.abs(b) if a.dtype.kind == "i" else a // b
    if a.dtype.kind == "i":
        quotient = np.where((a < 0) != (b < 0), -quotient, quotient)
    return like(x, quotient.astype(a.dtype))


@plain
def _modulo(node: Any, x: Any, y: Any) -> Any:
    if node.get("fmod", 0):
        return like(x, np.fmod(host(x), host(y))) if not is_float(x) else F.fmod(x, y)
    return xp_of(x).remainder(x, y)


@plain
def _power(node: Any, x: Any, y: Any) -> Any:
    y = _aligned(node, x, y)
    name = x.backend.dtype_name(x.dtype)
    if is_float(x):
        return xp_of(x).pow(x, cast(y, name))
    return like(x, np.power(host(x).astype("d"), host(y)).astype(name))


def _reduced(name: str) -> Any:
    """The operator that combines any number of inputs, two at a time."""
    return plain(lambda node, *inputs: reduce(getattr(xp_of(inputs[0]), name), inputs))


@plain
def _clip(node: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    xp = xp_of(x)
    name = x.backend.dtype_name(x.dtype)
    for end, setting, bound in (("max", "min", low), ("min", "max", high)):
        if bound is None and node.get(setting) is not None:
            bound = like(x, np.asarray(node.get(setting), name))
        if bound is not None:
            x = getattr(xp, f"{end}imum")(x, bound)
    return x


@plain
def _is_inf(node: Any, x: Any) -> Any:
    a = host(x)
    found = np.zeros(a.shape, bool)
    if node.get("detect_positive", 1):
        found |= np.isposinf(a)
    if node.get("detect_negative", 1):
        found |= np.isneginf(a)
    return like(x, found)


@plain
def _shift(node: Any, x: Any, y: Any) -> Any:
    left = node.get("direction") == "LEFT"
    xp = xp_of(x)
    return (xp.bitwise_left_shift if left else xp.bitwise_right_shift)(x, y)


# ---------------------------------------------------------------------- activations


@plain
def _celu(node: Any, x: Any) -> Any:
    alpha = node.get("alpha", 1.0)
    return F.relu(x) - alpha * F.relu(1 - F.exp(F.minimum(x, x * 0) / alpha))


@plain
def _gelu(node: Any, x: Any) -> Any:
    if node.get("approximate", "none") == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
        return 0.5 * x * (1 + F.tanh(inner))
    return F.gelu(x)


@plain
def _prelu(node: Any, x: Any, slope: Any) -> Any:
    if node.opset < 7 and slope.size > 1:  # one for each channel
        slope = F.reshape(slope, (-1, *(1,) * (x.ndim - 2)))
    if is_float(x):
        return F.relu(x) - slope * F.relu(-x)
    return like(x, np.where(host(x) > 0, host(x), host(x) * host(slope)))


@plain
def _relu(node: Any, x: Any) -> Any:
    return F.relu(x) if is_float(x) else like(x, np.maximum(host(x), 0))


@plain
def _selu(node: Any, x: Any) -> Any:
    alpha, gamma = node.get("alpha", 1.6732632423543772), node.get("gamma", 1.0507009873554805)
    return gamma * F.elu(x, alpha)


@plain
def _shrink(node: Any, x: Any) -> Any:
    bias, lambd = node.get("bias", 0.0), node.get("lambd", 0.5)
    a = host(x)
    if not is_float(x):
        moved = np.where(a < -lambd, a + bias, np.where(a > lambd, a - bias, 0))
        return like(x, moved.astype(a.dtype))
    moved = np.where(a < -lambd, bias, np.where(a > lambd, -bias, 0)).astype(a.dtype)
    kept = (np.abs(a) > lambd).astype(a.dtype)
    return xp_of(x).multiply(xp_of(x).add(x, like(x, moved)), like(x, kept))


@plain
def _thresholded(node: Any, x: Any) -> Any:
    a = host(x)
    return x * like(x, (a > node.get("alpha", 1.0)).astype(a.dtype))


OPERATORS: dict[str, Any] = {
    "Abs": _standard("abs"),
    "Acos": _standard("acos"),
    "Acosh": _standard("acosh"),
    "Add": _binary("add"),
    "And": _binary("logical_and"),
    "Asin": _standard("asin"),
    "Asinh": _standard("asinh"),
    "Atan": _standard("atan"),
    "Atanh": _standard("atanh"),
    "BitShift": _shift,
    "BitwiseAnd": _standard("bitwise_and"),
    "BitwiseNot": _standard("bitwise_invert"),
    "BitwiseOr": _standard("bitwise_or"),
    "BitwiseXor": _standard("bitwise_xor"),
    "Ceil": _standard("ceil"),
    "Celu": _celu,
    "Clip": _clip,
    "Cos": _standard("cos"),
    "Cosh": _standard("cosh"),
    "Div": _divide,
    "Elu": plain(lambda node, x: F.elu(x, node.get("alpha", 1.0))),
    "Equal": _binary("equal"),
    "Erf": _applied(F.erf),
    "Exp": _standard("exp"),
    "Floor": _standard("floor"),
    "Gelu": _gelu,
    "Greater": _binary("greater"),
    "GreaterOrEqual": _standard("greater_equal"),
    "HardSigmoid": plain(
        lambda node, x: F.clip(node.get("alpha", 0.2) * x + node.get("beta", 0.5), 0.0, 1.0)
    ),
    "HardSwish": plain(lambda node, x: x * F.clip(x / 6 + 0.5, 0.0, 1.0)),
    "Identity": plain(lambda node, x: [x]),
    "IsInf": _is_inf,
    "IsNaN": _standard("isnan"),
    "LeakyRelu": plain(lambda node, x: F.leaky_relu(x, node.get("alpha", 0.01))),
    "Less": _binary("less"),
    "LessOrEqual": _standard("less_equal"),
    "Log": _standard("log"),
    "Max": _reduced("maximum"),
    "Mean": plain(lambda node, *inputs: reduce(operator.add, inputs) / len(inputs)),
    "Min": _reduced("minimum"),
    "Mish": plain(lambda node, x: x * F.tanh(F.softplus(x))),
    "Mod": _modulo,
    "Mul": _binary("multiply"),
    "Neg": _standard("negative"),
    "Not": _standard("logical_not"),
    "Or": _binary("logical_or"),
    "PRelu": _prelu,
    "Pow": _power,
    "Reciprocal": plain(lambda node, x: 1 / x),
    "Relu": _relu,
    "Round": _standard("round"),
    "Selu": _selu,
    "Shrink": _shrink,
    "Sigmoid": _applied(F.sigmoid),
    "Sign": _standard("sign"),
    "Sin": _standard("sin"),
    "Sinh": _standard("sinh"),
    "Softplus": _applied(F.softplus),
    "Softsign": plain(lambda node, x: x / (1 + F.absolute(x))),
    "Sqrt": _standard("sqrt"),
    "Sub": _binary("subtract"),
    "Sum": _reduced("add"),
    "Swish": plain(lambda node, x: x * F.sigmoid(node.get("alpha", 1.0) * x)),
    "Tan": _standard("tan"),
    "Tanh": _applied(F.tanh),
    "ThresholdedRelu": _thresholded,
    "Where": _standard("where"),
    "Xor": _binary("logical_xor"),
}
