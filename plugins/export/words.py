"""The words of the array standard in ONNX's operators: one translation a call.

A translation takes the graph and an equation, and gives the names of the results. Together they
write every operation that is made of these words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np

from core.tracing import Equation, Value
from plugins.export import indexing
from plugins.export.batch import Dim
from plugins.export.graph import Graph

Translation: TypeAlias = Callable[[Graph, Equation], list[str]]


# ---------------------------------------------------------------------- elementwise


def _unary(op: str) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        return [g.add(op, g.operand(e.args[0], e.outputs[0].dtype))]

    return translation


def _binary(op: str) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        dtype = e.outputs[0].dtype
        return [g.add(op, *[g.operand(x, dtype) for x in e.args[:2]])]

    return translation


def _common(e: Equation) -> Any:
    """The dtype in which two arguments meet."""
    kinds = [x.dtype if isinstance(x, Value) else x for x in e.args[:2]]
    if not any([isinstance(x, Value) for x in e.args[:2]]):
        return np.result_type(*map(np.asarray, kinds))
    return np.result_type(*kinds)


def _compared(op: str, negated: bool = False) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        dtype = _common(e)
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
    if dtype.kind == "f":
        return [g.add("Floor", g.add("Div", x, y))]
    return [g.add("Div", g.add("Sub", x, g.add("Mod", x, y)), y)]


def _remainder(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    x, y = (g.operand(each, dtype) for each in e.args[:2])
    if dtype.kind != "f":
        return [g.add("Mod", x, y)]
    rest = g.add("Mod", x, y, fmod=1)  # of the sign of x, where NumPy's is that of y
    zero = g.constant(0, dtype)
    other = g.add("Less", g.add("Mul", rest, y), zero, dtype=bool)
    return [g.add("Where", other, g.add("Add", rest, y), rest, dtype=dtype)]


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
    infinite = g.add("IsInf", u, dtype=bool)
    exact = g.add("Mul", g.add("Log", u), ratio)
    found = g.add("Where", none, x, exact, dtype=dtype)
    return g.add("Where", infinite, u, found, dtype=dtype)


def _log1p(g: Graph, e: Equation) -> list[str]:
    return [_log1p_of(g, g.operand(e.args[0], e.outputs[0].dtype))]


def _logaddexp(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    x, y = (g.operand(each, dtype) for each in e.args[:2])
    apart = g.add("Neg", g.add("Abs", g.add("Sub", x, y)))
    return [g.add("Add", g.add("Max", x, y), _log1p_of(g, g.add("Exp", apart)))]


def _log_to(base: float) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        dtype = e.outputs[0].dtype
        found = g.add("Log", g.operand(e.args[0], dtype))
        return [g.add("Mul", found, g.constant(1 / np.log(base), dtype))]

    return translation


def _hypot(g: Graph, e: Equation) -> list[str]:
    """M sqrt(1 + (s/m)²) with the larger and the smaller magnitude."""
    dtype = e.outputs[0].dtype
    x, y = (g.add("Abs", g.operand(each, dtype)) for each in e.args[:2])
    most, least = g.add("Max", x, y), g.add("Min", x, y)
    none = g.add("Equal", most, g.constant(0, dtype), dtype=bool)
    one = g.constant(1, dtype)
    ratio = g.add("Div", least, g.add("Where", none, one, most, dtype=dtype))
    root = g.add("Sqrt", g.add("Add", one, g.add("Mul", ratio, ratio)))
    return [g.add("Mul", most, root)]


def _copysign(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    x, y = (g.operand(each, dtype) for each in e.args[:2])
    size, zero = g.add("Abs", x), g.constant(0, dtype)
    # 1 / -0 is -inf: so the sign of a zero is seen.
    seen = g.add(
        "Where", g.add("Equal", y, zero, dtype=bool), g.add("Reciprocal", y), y, dtype=dtype
    )
    below = g.add("Less", seen, zero, dtype=bool)
    return [g.add("Where", below, g.add("Neg", size), size, dtype=dtype)]


def _atan2(g: Graph, e: Equation) -> list[str]:
    """2 atan(y / (r + x)) right of the origin, 2 atan((r - x) / y) left of it."""
    dtype = e.outputs[0].dtype
    y, x = (g.operand(each, dtype) for each in e.args[:2])
    zero, one = g.constant(0, dtype), g.constant(1, dtype)
    right = g.add("Greater", x, zero, dtype=bool)
    level = g.add("Equal", y, zero, dtype=bool)
    far = g.add("Where", right, x, one, dtype=dtype)
    direct = g.add("Atan", g.add("Div", y, far))
    beside = g.add("Where", level, one, y, dtype=dtype)
    half = g.constant(np.pi / 2, dtype)
    up = g.add("Greater", y, zero, dtype=bool)
    quarter = g.add("Where", up, half, g.add("Neg", half), dtype=dtype)
    steep = g.add("Sub", quarter, g.add("Atan", g.add("Div", x, beside)))
    behind = g.add("Less", x, zero, dtype=bool)
    straight = g.add("Where", behind, g.constant(np.pi, dtype), zero, dtype=dtype)
    other = g.add("Where", level, straight, steep, dtype=dtype)
    return [g.add("Where", right, direct, other, dtype=dtype)]


def _tangent(g: Graph, e: Equation) -> list[str]:
    """Tan, which runtimes have for float32 alone."""
    dtype = e.outputs[0].dtype
    x = g.operand(e.args[0], dtype)
    if dtype == "float32":
        return [g.add("Tan", x)]
    return [g.add("Div", g.add("Sin", x), g.add("Cos", x))]


def _truncated(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    x = g.operand(e.args[0], dtype)
    return [g.add("Mul", g.add("Sign", x), g.add("Floor", g.add("Abs", x)))]


def _is_finite(g: Graph, e: Equation) -> list[str]:
    x = g.operand(e.args[0])
    if g.dtype(x).kind != "f":
        return [g.full(e.outputs[0].shape, True, bool)]
    bad = g.add("Or", g.add("IsNaN", x, dtype=bool), g.add("IsInf", x, dtype=bool))
    return [g.add("Not", bad)]


def _clip(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    ends = dict(zip(("min", "max"), e.args[1:], strict=False)) | e.kwargs
    found = g.operand(e.args[0], dtype)
    for name, op in (("min", "Max"), ("max", "Min")):
        if ends.get(name) is not None:
            found = g.add(op, found, g.operand(ends[name], dtype))
    return [found]


def _where(g: Graph, e: Equation) -> list[str]:
    condition, *branches = e.args
    dtype = e.outputs[0].dtype
    parts = [g.operand(x, dtype) for x in branches]
    return [g.add("Where", g.operand(condition, bool), *parts, dtype=dtype)]


def _round(g: Graph, e: Equation) -> list[str]:
    if e.args[1:] or e.kwargs.get("decimals"):
        raise g.refuse(e, "it rounds to decimals")
    return [g.add("Round", g.operand(e.args[0], e.outputs[0].dtype))]


def _same(g: Graph, e: Equation) -> list[str]:
    x = g.operand(e.args[0], e.outputs[0].dtype)
    return [x]


# ---------------------------------------------------------------------- reductions


def _axes(e: Equation) -> tuple[Value, Any, bool]:
    x, *more = e.args
    axis = e.kwargs.get("axis", more[0] if more else None)
    return x, axis, bool(e.kwargs.get("keepdims", False))


def _reduce(op: str, through: Any = None) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        x, axis, keepdims = _axes(e)
        dtype = e.outputs[0].dtype
        name = g.operand(x, through or dtype)
        if axis == ():
            return [g.cast(name, dtype)]
        axes = [] if axis is None else [axis] if isinstance(axis, int) else axis
        given = [g.integers(axes)] if axes else []
        return [g.cast(g.add(op, name, *given, keepdims=int(keepdims)), dtype)]

    return translation


def _arg(op: str) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        x, axis, keepdims = _axes(e)
        name = g.operand(x)
        if g.dtype(name).kind == "b":
            name = g.cast(name, "int32")
        if axis is None:
            name, axis = g.reshape(name, (-1,)), 0
            keepdims = False
        found = g.add(op, name, dtype="int64", axis=axis, keepdims=int(keepdims))
        return [g.cast(g.reshape(found, e.outputs[0].shape), e.outputs[0].dtype)]

    return translation


def _variance(g: Graph, e: Equation) -> list[str]:
    x, axis, keepdims = _axes(e)
    dtype = e.outputs[0].dtype
    name = g.operand(x, dtype)
    axes = list(range(len(x.shape))) if axis is None else [axis] if isinstance(axis, int) else axis
    given = g.integers(axes)
    apart = g.add("Sub", name, g.add("ReduceMean", name, given, keepdims=1))
    found = g.add("ReduceMean", g.add("Mul", apart, apart), given, keepdims=int(keepdims))
    less = e.kwargs.get("correction", e.kwargs.get("ddof", 0))
    if less:
        count = prod([x.shape[i] for i in axes])
        found = g.add("Mul", found, g.number(count, dtype))
        found = g.add("Div", found, g.number(count - less, dtype))
    return [g.add("Sqrt", found) if e.call.name.endswith("std") else found]


def _cumulative_sum(g: Graph, e: Equation) -> list[str]:
    x, axis, _ = _axes(e)
    if e.kwargs.get("include_initial"):
        raise g.refuse(e, "it begins with 0")
    axis = 0 if axis is None else axis
    return [g.add("CumSum", g.operand(x, e.outputs[0].dtype), g.constant(axis, "int64"))]


def _cumulative_product(g: Graph, e: Equation) -> list[str]:
    x, axis, _ = _axes(e)
    axis = 0 if axis is None else axis
    name, n = g.operand(x, e.outputs[0].dtype), x.shape[axis]
    if isinstance(n, Dim) or n > 256:
        raise g.refuse(e, "it is along an axis of unknown length, or of more than 256")
    if n == 0:
        return [name]
    found = [g.gather(name, [0], axis)]
    for i in range(1, n):
        found.append(g.add("Mul", found[-1], g.gather(name, [i], axis)))
    return [g.add("Concat", *found, axis=axis)]


# ---------------------------------------------------------------------- shapes


def _reshape(g: Graph, e: Equation) -> list[str]:
    return [g.reshape(g.operand(e.args[0]), e.outputs[0].shape)]


def _broadcast_to(g: Graph, e: Equation) -> list[str]:
    return [g.expand(g.operand(e.args[0]), e.outputs[0].shape)]


def _reordered(g: Graph, e: Equation) -> list[str]:
    """Axes in another order, which NumPy finds on an array whose axes tell themselves."""
    x = e.args[0]
    marks = np.empty(tuple(range(2, 2 + len(x.shape))), dtype=bool)
    function = e.call.found(_host())
    order = [n - 2 for n in function(marks, *e.args[1:], **e.kwargs).shape]
    return [g.transpose(g.operand(x), order)]


def _host() -> Any:
    from core.arrays.backend import host

    return host()


def _concat(g: Graph, e: Equation) -> list[str]:
    arrays, axis = e.args[0], e.kwargs.get("axis", e.args[1] if len(e.args) > 1 else 0)
    dtype = e.outputs[0].dtype
    names = [g.operand(x, dtype) for x in arrays]
    if axis is None:
        names, axis = [g.reshape(name, (-1,)) for name in names], 0
    return [g.add("Concat", *names, axis=axis)]


def _stack(g: Graph, e: Equation) -> list[str]:
    arrays, axis = e.args[0], e.kwargs.get("axis", e.args[1] if len(e.args) > 1 else 0)
    at = g.constant([axis], "int64")
    names = [g.add("Unsqueeze", g.operand(x, e.outputs[0].dtype), at) for x in arrays]
    return [g.add("Concat", *names, axis=axis)]


def _tile(g: Graph, e: Equation) -> list[str]:
    x, reps = e.args[0], e.args[1]
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    ndim = max(len(reps), len(x.shape))
    name = g.reshape(g.operand(x), (1,) * (ndim - len(x.shape)) + tuple(x.shape))
    return [g.add("Tile", name, g.integers((1,) * (ndim - len(reps)) + reps))]


def _repeat(g: Graph, e: Equation) -> list[str]:
    x, times = e.args[0], e.args[1]
    axis = e.kwargs.get("axis", e.args[2] if len(e.args) > 2 else None)
    if not isinstance(times, int):
        raise g.refuse(e, "it repeats each element another number of times")
    shape = list(x.shape) if axis is not None else [prod(x.shape)]
    axis = 0 if axis is None else axis % len(shape)
    name = g.reshape(g.operand(x), (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    name = g.expand(name, (*shape[: axis + 1], times, *shape[axis + 1 :]))
    return [g.reshape(name, e.outputs[0].shape)]


def _flip(g: Graph, e: Equation) -> list[str]:
    x, axis, _ = _axes(e)
    axes = range(len(x.shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    name = g.operand(x)
    if not list(axes):
        return [name]
    n, ends = len(list(axes)), np.iinfo("int64")
    starts, stops = [g.constant([k] * n, "int64") for k in (ends.max, ends.min)]
    return [g.add("Slice", name, starts, stops, g.integers(list(axes)), g.integers([-1] * n))]


def _roll(g: Graph, e: Equation) -> list[str]:
    x, shift = e.args[0], e.args[1]
    axis = e.kwargs.get("axis", e.args[2] if len(e.args) > 2 else None)
    name = g.operand(x)
    if axis is None:
        name, shape, axis = g.reshape(name, (-1,)), [prod(x.shape)], 0
    else:
        shape = list(x.shape)
    pairs = zip(
        [shift] if isinstance(shift, int) else shift,
        [axis] if isinstance(axis, int) else axis,
        strict=True,
    )
    for by, along in pairs:
        n = shape[along]
        if isinstance(n, Dim):
            raise g.refuse(e, "it is along the batch")
        name = g.gather(name, (np.arange(n) - by) % max(n, 1), along)
    return [g.reshape(name, x.shape)]


def _triangle(upper: int) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        k = e.kwargs.get("k", e.args[1] if len(e.args) > 1 else 0)
        return [g.add("Trilu", g.operand(e.args[0]), g.constant(k, "int64"), upper=upper)]

    return translation


# ---------------------------------------------------------------------- making


def _full(value: Any) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        given = e.kwargs.get("fill_value", e.args[1] if len(e.args) > 1 else None)
        filled = given if value is None else value
        return [g.full(e.outputs[0].shape, filled, e.outputs[0].dtype)]

    return translation


def _arange(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    args = e.args if len(e.args) > 1 else (0, *e.args)
    start, stop, step = (*args, e.kwargs.get("step", 1))[:3]
    return [g.add("Range", *[g.number(x, dtype) for x in (start, stop, step)])]


def _eye(g: Graph, e: Equation) -> list[str]:
    shape = e.outputs[0].shape
    if any([isinstance(n, Dim) for n in shape]):
        raise g.refuse(e, "its size follows the batch")
    k = e.kwargs.get("k", 0)
    return [g.constant(np.eye(shape[0], shape[1], k, dtype=e.outputs[0].dtype))]


def _linspace(g: Graph, e: Equation) -> list[str]:
    out = e.outputs[0]
    if isinstance(out.shape[0], Dim) or e.inputs:
        raise g.refuse(e, "its ends or its length are not known")
    return [g.constant(np.linspace(*e.args, **e.kwargs), out.dtype)]


def _asarray(g: Graph, e: Equation) -> list[str]:
    x, dtype = e.args[0], e.outputs[0].dtype
    if isinstance(x, (list, tuple)):
        names = [g.reshape(g.operand(part, dtype), (1,)) for part in x]
        return [g.add("Concat", *names, axis=0)]
    return [g.operand(x, dtype)]


def _drawn(g: Graph, e: Equation) -> list[str]:
    out = e.outputs[0]
    if e.call.name in ("permutation", "integers"):
        raise g.refuse(e)
    floating = out.dtype if out.dtype.kind == "f" else np.dtype("float32")
    like = g.full(out.shape, 0, floating)
    if e.call.name == "normal":
        return [g.add("RandomNormalLike", like)]
    if e.call.name == "bernoulli":
        drawn = g.add("RandomUniformLike", like)
        return [g.add("GreaterOrEqual", drawn, g.constant(1 - e.args[0], floating), dtype=bool)]
    low, high = e.args[2:4] if len(e.args) > 3 else (0.0, 1.0)
    return [g.add("RandomUniformLike", like, low=float(low), high=float(high))]


# ---------------------------------------------------------------------- products, orders


def _matmul(g: Graph, e: Equation) -> list[str]:
    dtype = e.outputs[0].dtype
    return [g.add("MatMul", *[g.operand(x, dtype) for x in e.args[:2]])]


def _einsum(g: Graph, e: Equation) -> list[str]:
    text, *arrays = e.args
    dtype = e.outputs[0].dtype
    return [g.add("Einsum", *[g.operand(x, dtype) for x in arrays], equation=text)]


def _sorted(result: int) -> Translation:
    def translation(g: Graph, e: Equation) -> list[str]:
        x = e.args[0]
        axis = e.kwargs.get("axis", -1)
        descending = e.kwargs.get("descending", False)
        name = g.operand(x)
        count = g.add("Gather", g.add("Shape", name, dtype="int64"), g.constant([axis], "int64"))
        found = g.add_several("TopK", 2, name, count, axis=axis, largest=int(descending), sorted=1)
        g._dtypes[found[1]] = np.dtype("int64")
        return [g.cast(found[result], e.outputs[0].dtype)]

    return translation


def _det(g: Graph, e: Equation) -> list[str]:
    return [g.add("Det", g.operand(e.args[0], e.outputs[0].dtype))]


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
    "neg": _unary("Neg"),
    "pos": _same,
    "abs": _unary("Abs"),
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
    "acos": _unary("Acos"),
    "acosh": _unary("Acosh"),
    "asin": _unary("Asin"),
    "asinh": _unary("Asinh"),
    "atan": _unary("Atan"),
    "atanh": _unary("Atanh"),
    "ceil": _unary("Ceil"),
    "cos": _unary("Cos"),
    "cosh": _unary("Cosh"),
    "exp": _unary("Exp"),
    "floor": _unary("Floor"),
    "log": _unary("Log"),
    "sign": _unary("Sign"),
    "sin": _unary("Sin"),
    "sinh": _unary("Sinh"),
    "sqrt": _unary("Sqrt"),
    "tan": _tangent,
    "tanh": _unary("Tanh"),
    "atan2": _atan2,
    "copysign": _copysign,
    "expm1": _expm1,
    "hypot": _hypot,
    "isfinite": _is_finite,
    "log10": _log_to(10),
    "log1p": _log1p,
    "log2": _log_to(2),
    "logaddexp": _logaddexp,
    "round": _round,
    "trunc": _truncated,
    "clip": _clip,
    "where": _where,
    "astype": _same,
    "copy": _same,
    "asarray": _asarray,
    "ascontiguousarray": _same,
    "real": _same,
    "conj": _same,
    "sum": _reduce("ReduceSum"),
    "mean": _reduce("ReduceMean"),
    "max": _reduce("ReduceMax"),
    "min": _reduce("ReduceMin"),
    "prod": _reduce("ReduceProd"),
    "any": _reduce("ReduceMax", "int32"),
    "all": _reduce("ReduceMin", "int32"),
    "argmax": _arg("ArgMax"),
    "argmin": _arg("ArgMin"),
    "var": _variance,
    "std": _variance,
    "cumulative_sum": _cumulative_sum,
    "cumulative_prod": _cumulative_product,
    "reshape": _reshape,
    "expand_dims": _reshape,
    "squeeze": _reshape,
    "ravel": _reshape,
    "flatten": _reshape,
    "broadcast_to": _broadcast_to,
    **dict.fromkeys(
        ("permute_dims", "transpose", "matrix_transpose", "moveaxis", "swapaxes", "T", "mT"),
        _reordered,
    ),
    "concat": _concat,
    "concatenate": _concat,
    "stack": _stack,
    "tile": _tile,
    "repeat": _repeat,
    "flip": _flip,
    "roll": _roll,
    "triu": _triangle(1),
    "tril": _triangle(0),
    "zeros": _full(0),
    "zeros_like": _full(0),
    "ones": _full(1),
    "ones_like": _full(1),
    "empty": _full(0),
    "empty_like": _full(0),
    "full": _full(None),
    "full_like": _full(None),
    "arange": _arange,
    "eye": _eye,
    "linspace": _linspace,
    **dict.fromkeys(("uniform", "normal", "bernoulli", "permutation", "integers"), _drawn),
    "matmul": _matmul,
    "imatmul": _matmul,
    "einsum": _einsum,
    "linalg.det": _det,
    "sort": _sorted(0),
    "argsort": _sorted(1),
    "getitem": indexing.getitem,
    "set_item": indexing.set_item,
    "copyto": indexing.copyto,
    "take": indexing.take,
    "take_along_axis": indexing.take_along_axis,
    "scatter_add": partial(indexing.scatter, "add"),
    "windows": indexing.windows,
    "fold": indexing.fold,
}
"""Call -> translation."""
