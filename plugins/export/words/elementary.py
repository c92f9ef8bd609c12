"""Exponentials, logarithms and trigonometry; what ONNX lacks by what it has."""

from __future__ import annotations

import numpy as np

from core.programs import Equation
from plugins.export.graph import Graph, Translation
from plugins.export.words.arithmetic import infinite, negative, unary


def _expm1(g: Graph, e: Equation) -> list[str]:
    """2 tanh(x/2) / (1 - tanh(x/2)) where x is small."""
    dtype = e.outputs[0].dtype
    x = g.operand(e.args[0], dtype)
    one, two = g.constant(1, dtype), g.constant(2, dtype)
    small = g.add("Less", g.add("Abs", x), one, dtype=bool)
    t = g.add(
        "Tanh", g.add("Div", g.add("Where", small, x, g.constant(0, dtype), dtype=dtype), two)
    )
    near = g.add("Div", g.add("Mul", two, t), g.add("Sub", one, t))
    return [g.add("Where", small, near, g.add("Sub", g.add("Exp", x), one), dtype=dtype)]


def _log1p_of(g: Graph, x: str) -> str:
    """log(u) x / (u - 1) with u = 1 + x, which is x where u is 1."""
    dtype = g.dtype(x)
    one = g.constant(1, dtype)
    u = g.add("Add", x, one)
    apart = g.add("Sub", u, one)
    none = g.add("Equal", apart, g.constant(0, dtype), dtype=bool)
    ratio = g.add("Div", x, g.add("Where", none, one, apart, dtype=dtype))
    rough = g.add("Log", u)
    found = g.add("Where", none, x, g.add("Mul", rough, ratio), dtype=dtype)
    return g.add("Where", infinite(g, u), rough, found, dtype=dtype)


def _log1p(g: Graph, e: Equation) -> list[str]:
    return [_log1p_of(g, g.operand(e.args[0], e.outputs[0].dtype))]


def _logaddexp(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    x, y = (g.operand(each, dtype) for each in e.args[:2])
    alike = g.add("Equal", x, y, dtype=bool)  # of two infinities the difference is NaN
    apart = g.add("Neg", g.add("Abs", g.add("Sub", x, y)))
    apart = g.add("Where", alike, g.constant(0, dtype), apart, dtype=dtype)
    return [g.add("Add", g.add("Max", x, y), _log1p_of(g, g.add("Exp", apart)))]


def _log_to(base: float) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        dtype = e.outputs[0].dtype
        found = g.add("Log", g.operand(e.args[0], dtype))
        return [g.add("Mul", found, g.constant(1 / np.log(base), dtype))]

    return translation


def _hypot(g: Graph, e: Equation) -> list[str]:
    """M sqrt(1 + (s/m)²) with the larger and the smaller magnitude, infinite where one is."""
    dtype = e.outputs[0].dtype
    x, y = (g.add("Abs", g.operand(each, dtype)) for each in e.args[:2])
    most, least = g.add("Max", x, y), g.add("Min", x, y)
    none = g.add("Equal", most, g.constant(0, dtype), dtype=bool)
    one = g.constant(1, dtype)
    ratio = g.add("Div", least, g.add("Where", none, one, most, dtype=dtype))
    root = g.add("Sqrt", g.add("Add", one, g.add("Mul", ratio, ratio)))
    found = g.add("Mul", most, root)
    endless = g.add("Or", infinite(g, x), infinite(g, y))
    return [g.add("Where", endless, g.constant(np.inf, dtype), found, dtype=dtype)]


def _atan2(g: Graph, e: Equation) -> list[str]:
    """Atan(y / x) right of the origin, and a right angle less atan(x / y) left of it.

    Two infinities stand for the diagonal between them; zeros have signs.
    """
    dtype = e.outputs[0].dtype
    y, x = (g.operand(each, dtype) for each in e.args[:2])
    zero, one = g.constant(0, dtype), g.constant(1, dtype)
    endless = g.add("And", infinite(g, x), infinite(g, y))
    y, x = (g.add("Where", endless, g.add("Sign", each), each, dtype=dtype) for each in (y, x))
    right = g.add("Greater", x, zero, dtype=bool)
    level = g.add("Equal", y, zero, dtype=bool)
    far = g.add("Where", right, x, one, dtype=dtype)
    direct = g.add("Atan", g.add("Div", y, far))
    beside = g.add("Where", level, one, y, dtype=dtype)
    half = g.constant(np.pi / 2, dtype)
    under = negative(g, y)
    quarter = g.add("Where", under, g.add("Neg", half), half, dtype=dtype)
    steep = g.add("Sub", quarter, g.add("Atan", g.add("Div", x, beside)))
    straight = g.add("Where", negative(g, x), g.constant(np.pi, dtype), zero, dtype=dtype)
    straight = g.add("Where", under, g.add("Neg", straight), straight, dtype=dtype)
    other = g.add("Where", level, straight, steep, dtype=dtype)
    found = g.add("Where", right, direct, other, dtype=dtype)
    return [g.add("Where", g.add("Equal", x, x, dtype=bool), found, x, dtype=dtype)]


def _tangent(g: Graph, e: Equation) -> list[str]:
    """Tan, which runtimes have for float32 alone."""
    dtype = e.outputs[0].dtype
    x = g.operand(e.args[0], dtype)
    if dtype == "float32":
        return [g.add("Tan", x)]
    return [g.add("Div", g.add("Sin", x), g.add("Cos", x))]


WORDS: dict[str, Translation] = {
    "acos": unary("Acos"),
    "acosh": unary("Acosh"),
    "asin": unary("Asin"),
    "asinh": unary("Asinh"),
    "atan": unary("Atan"),
    "atanh": unary("Atanh"),
    "cos": unary("Cos"),
    "cosh": unary("Cosh"),
    "exp": unary("Exp"),
    "log": unary("Log"),
    "sin": unary("Sin"),
    "sinh": unary("Sinh"),
    "sqrt": unary("Sqrt"),
    "tan": _tangent,
    "tanh": unary("Tanh"),
    "atan2": _atan2,
    "expm1": _expm1,
    "hypot": _hypot,
    "log10": _log_to(10),
    "log1p": _log1p,
    "log2": _log_to(2),
    "logaddexp": _logaddexp,
}
