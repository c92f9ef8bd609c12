"""Arithmetic, comparisons and logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.programs import Equation, Value
from plugins.export.graph import Graph, Translation


def unary(op: str) -> Translation:
    """The translation of a function of one array that is one operator."""

    def translation(g: Graph, e: Equation) -> list[str]:
        return [g.add(op, g.operand(e.args[0], e.outputs[0].dtype))]

    return translation


_OF_TRUTH_VALUES = {"Add": "Or", "Mul": "And", "Max": "Or", "Min": "And"}


def _binary(op: str) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        dtype = e.outputs[0].dtype
        own = _OF_TRUTH_VALUES.get(op, op) if dtype.kind == "b" else op
        return [g.add(own, *[g.operand(x, dtype) for x in e.args[:2]])]

    return translation


def _common(e: Equation) -> Any:
    """The dtype in which two arguments meet; of a number beyond that of integers, one it is in."""
    kinds = [x.dtype if isinstance(x, Value) else x for x in e.args[:2]]
    ranges = [np.iinfo(kind) for kind in kinds if getattr(kind, "kind", "") in ("i", "u")]
    for i, x in enumerate(kinds):
        if type(x) is int and any([not ends.min <= x <= ends.max for ends in ranges]):
            kinds[i] = np.asarray(x).dtype
    if not any([isinstance(x, Value) for x in e.args[:2]]):
        return np.result_type(*map(np.asarray, kinds))
    return np.result_type(*kinds)


def _compared(op: str, negated: bool = False) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        dtype = _common(e)
        if dtype.kind == "b" and op != "Equal":
            dtype = np.dtype("uint8")  # truth values have no order in ONNX
        found = g.add(op, *[g.operand(x, dtype) for x in e.args[:2]], dtype=bool)
        return [g.add("Not", found) if negated else found]

    return translation


def _bitwise(logical: str, bits: str) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        dtype = e.outputs[0].dtype
        op = logical if dtype.kind == "b" else bits
        return [g.add(op, *[g.operand(x, dtype) for x in e.args[:2]])]

    return translation


def _invert(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    return [g.add("Not" if dtype.kind == "b" else "BitwiseNot", g.operand(e.args[0], dtype))]


def _logical(op: str) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        return [g.add(op, *[g.operand(x, bool) for x in e.args])]

    return translation


def _power(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    base, exponent = e.args[:2]
    if isinstance(exponent, (int, float)) and exponent == 2:
        x = g.operand(base, dtype)
        return [g.add("Mul", x, x)]
    return [g.add("Pow", g.operand(base, dtype), g.operand(exponent, dtype))]


def _floor_divide(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    x, y = (g.operand(each, dtype) for each in e.args[:2])
    if dtype.kind != "f":
        return [g.add("Div", g.add("Sub", x, g.add("Mod", x, y)), y)]
    # By the rest, as NumPy does it: the quotient may be rounded up to the next whole number.
    rest, other = _rest(g, x, y)
    whole = g.add("Div", g.add("Sub", x, rest), y)
    less = g.add("Sub", whole, g.constant(1, dtype))
    whole = g.add("Round", g.add("Where", other, less, whole, dtype=dtype))
    none = g.add("Equal", y, g.constant(0, dtype), dtype=bool)
    return [g.add("Where", none, g.add("Div", x, y), whole, dtype=dtype)]


def _rest(g: Graph, x: str, y: str) -> tuple[str, str]:
    """What is left of floats, with the sign of x, and where that is not the sign of y."""
    rest = g.add("Mod", x, y, fmod=1)
    apart = g.add("Mul", rest, g.add("Sign", y))
    return rest, g.add("Less", apart, g.constant(0, g.dtype(x)), dtype=bool)


def _remainder(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    x, y = (g.operand(each, dtype) for each in e.args[:2])
    if dtype.kind != "f":
        return [g.add("Mod", x, y)]
    rest, other = _rest(g, x, y)
    return [g.add("Where", other, g.add("Add", rest, y), rest, dtype=dtype)]


def _negative(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    x = g.operand(e.args[0], dtype)
    return [g.add("Sub", g.constant(0, dtype), x) if dtype.kind == "u" else g.add("Neg", x)]


def negative(g: Graph, x: str) -> str:
    """Where elements have the sign of a minus, zeros as well: 1 / -0 is -inf."""
    dtype, zero = g.dtype(x), g.constant(0, g.dtype(x))
    level = g.add("Equal", x, zero, dtype=bool)
    seen = g.add("Where", level, g.add("Reciprocal", x), x, dtype=dtype)
    return g.add("Less", seen, zero, dtype=bool)


def _copysign(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    x, y = (g.operand(each, dtype) for each in e.args[:2])
    size = g.add("Abs", x)
    return [g.add("Where", negative(g, y), g.add("Neg", size), size, dtype=dtype)]


def _to_integers(op: str) -> Translation:
    """The translation of a rounding, which leaves integers as they are."""

    def translation(g: Graph, e: Equation) -> list[str]:
        dtype = e.outputs[0].dtype
        x = g.operand(e.args[0], dtype)
        return [g.add(op, x) if dtype.kind == "f" else x]

    return translation


def _truncated(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    if dtype.kind != "f":
        return same(g, e)
    x = g.operand(e.args[0], dtype)
    return [g.add("Mul", g.add("Sign", x), g.add("Floor", g.add("Abs", x)))]


def _round(g: Graph, e: Equation) -> list[str]:
    if e.args[1:] or e.kwargs.get("decimals"):
        raise g.refuse(e, "it rounds to decimals")
    return _to_integers("Round")(g, e)


def infinite(g: Graph, x: str) -> str:
    """Where elements are infinite; IsInf takes 16-bit floats from opset 20 on alone."""
    return g.add("Equal", g.add("Abs", x), g.constant(np.inf, g.dtype(x)), dtype=bool)


def _is_finite(g: Graph, e: Equation) -> list[str]:
    x = g.operand(e.args[0])
    if g.dtype(x).kind != "f":
        return [g.full(e.outputs[0].shape, True, bool)]
    bad = g.add("Or", g.add("IsNaN", x, dtype=bool), infinite(g, x))
    return [g.add("Not", bad)]


def _asked(answer: Callable[[Graph, str], str]) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        x = g.operand(e.args[0])
        if g.dtype(x).kind != "f":
            return [g.full(e.outputs[0].shape, False, bool)]
        return [answer(g, x)]

    return translation


def _square(g: Graph, e: Equation) -> list[str]:
    x = g.operand(e.args[0], e.outputs[0].dtype)
    return [g.add("Mul", x, x)]


def _clip(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    given = {name.removeprefix("a_"): end for name, end in e.kwargs.items()}
    ends = dict(zip(("min", "max"), e.args[1:], strict=False)) | given
    found = g.operand(e.args[0], dtype)
    for name, op in (("min", "Max"), ("max", "Min")):
        if ends.get(name) is not None:
            found = g.add(op, found, g.operand(ends[name], dtype))
    return [found]


def chosen(g: Graph, condition: str, x: str, y: str) -> str:
    """Where."""
    dtype = g.dtype(x)
    if dtype.kind == "b":  # which onnxruntime's Where does not take
        first = g.add("And", condition, x)
        return g.add("Or", first, g.add("And", g.add("Not", condition), y))
    return g.add("Where", condition, x, y, dtype=dtype)


def _where(g: Graph, e: Equation) -> list[str]:
    condition, *branches = e.args
    dtype = e.outputs[0].dtype
    parts = [g.operand(x, dtype) for x in branches]
    return [chosen(g, g.operand(condition, bool), *parts)]


def same(g: Graph, e: Equation) -> list[str]:
    """The same elements, in the dtype of the result."""
    x = g.operand(e.args[0], e.outputs[0].dtype)
    return [x]


_ARITHMETIC = {"add": "Add", "sub": "Sub", "mul": "Mul", "truediv": "Div"}

WORDS: dict[str, Translation] = {
    **{name: _binary(op) for name, op in _ARITHMETIC.items()},
    **{f"i{name}": _binary(op) for name, op in _ARITHMETIC.items()},
    "add_in_place": _binary("Add"),
    "maximum": _binary("Max"),
    "minimum": _binary("Min"),
    "pow": _power,
    "ipow": _power,
    "floordiv": _floor_divide,
    "mod": _remainder,
    "remainder": _remainder,
    "neg": _negative,
    "pos": same,
    "abs": unary("Abs"),
    "invert": _invert,
    "eq": _compared("Equal"),
    "ne": _compared("Equal", negated=True),
    "lt": _compared("Less"),
    "le": _compared("LessOrEqual"),
    "gt": _compared("Greater"),
    "ge": _compared("GreaterOrEqual"),
    "and_": _bitwise("And", "BitwiseAnd"),
    "or_": _bitwise("Or", "BitwiseOr"),
    "xor": _bitwise("Xor", "BitwiseXor"),
    "iand": _bitwise("And", "BitwiseAnd"),
    "ior": _bitwise("Or", "BitwiseOr"),
    "logical_and": _logical("And"),
    "logical_or": _logical("Or"),
    "logical_xor": _logical("Xor"),
    "logical_not": _logical("Not"),
    "ceil": _to_integers("Ceil"),
    "floor": _to_integers("Floor"),
    "square": _square,
    "reciprocal": unary("Reciprocal"),
    "isinf": _asked(infinite),
    "isnan": _asked(lambda g, x: g.add("IsNaN", x, dtype=bool)),
    "sign": unary("Sign"),
    "copysign": _copysign,
    "isfinite": _is_finite,
    "round": _round,
    "trunc": _truncated,
    "clip": _clip,
    "where": _where,
    "astype": same,
    "copy": same,
    "ascontiguousarray": same,
    "real": same,
    "conj": same,
}
