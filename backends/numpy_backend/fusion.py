"""What of a program becomes compiled loops, and how these are called."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import inf, prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.fused_loops import (
    REDUCTIONS,
    Literal,
    Plan,
    Slot,
    Step,
    loop_of,
)
from backends.numpy_backend.kernels.vectors import BITS, FUNCTIONS
from core.errors.scalars import is_number
from core.tracing import Equation, Fuser, Group, Value, reduced_axes

LEAST = 65536  # elements of a part; less is done sooner than another thread wakes up
WORTH = 1024  # elements times equations, from which a call of NumPy's own for each is slower

_NAMES = {
    "iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "truediv", "add_in_place": "add",
    "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv",
    "negative": "neg", "positive": "pos", "absolute": "abs", "fabs": "abs",
    "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "equal": "eq",
    "not_equal": "ne", "logical_and": "and_", "logical_or": "or_", "logical_not": "invert",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_invert": "invert", "iand": "and_",
    "ior": "or_", "amax": "max", "amin": "min",
}  # fmt: skip
_COPIES = frozenset(["astype", "copy", "asarray", "broadcast_to"])
_FILLED = {"zeros_like": 0.0, "ones_like": 1.0}
_RELABELLED = frozenset(["reshape", "expand_dims", "squeeze", "getitem"])
_COMPARED = frozenset(["lt", "le", "gt", "ge", "eq", "ne", "isnan", "isfinite"])
_POWERS = {1: "same", 2: "square", 0.5: "sqrt", -1: "reciprocal"}


def _name(equation: Equation) -> str:
    name = equation.call.name
    return _NAMES.get(name, name)


class LoopFuser(Fuser):
    """Loops over floats of 32 and 64 bits, their masks, and whole numbers beside them."""

    def part(self, equation: Equation) -> str:
        """What an equation can be in a loop."""
        call, outputs = equation.call, equation.outputs
        if call.kind in ("kernel", "backend", "random", "attribute") or len(outputs) != 1:
            return ""
        (made,) = outputs
        values = [*equation.inputs, made]
        if equation.several or any([v.dtype.name not in BITS or not v.size for v in values]):
            return ""
        name = _name(equation)
        if name in REDUCTIONS or name == "mean":
            return "reduction" if _reduces(equation) else ""
        if call.name in _RELABELLED:
            same = equation.inputs[0].shape == made.shape
            return ("elementwise" if same else "relabelled") if _relabels(equation) else ""
        return "elementwise" if _operands(equation) is not None else ""

    def made(self, group: Group) -> Callable[..., tuple[Any, ...]] | None:
        """The function that computes a group, compiled; None where calls of NumPy's do as well."""
        computing = [e for e in group.equations if _name(e) not in _COPIES | _RELABELLED]
        size = group.rows * group.columns
        if len(computing) < 2 or size * len(computing) < WORTH:
            return None
        return _Call(group).function()


def _reduces(equation: Equation) -> bool:
    x, *rest = equation.args
    (made,) = equation.outputs
    more = set(equation.kwargs) - {"axis", "keepdims", "dtype"}
    if not isinstance(x, Value) or len(rest) > 1 or more or not x.shape:
        return False
    return bool(x.dtype == made.dtype and x.dtype.kind == "f" and reduced_axes(equation))


def _relabels(equation: Equation) -> bool:
    x = equation.args[0]
    (made,) = equation.outputs
    if not isinstance(x, Value) or len(equation.inputs) != 1 or x.size != made.size:
        return False
    if equation.call.name != "getitem":
        return "order" not in equation.kwargs
    index = equation.args[1]
    parts = index if isinstance(index, tuple) else (index,)
    return all([p is None or p is Ellipsis or p == slice(None) or type(p) is int for p in parts])


def _operands(equation: Equation) -> tuple[str, list[Any], str] | None:
    """What an elementwise equation computes, of what, in which dtype; None if that is unknown."""
    call, args = equation.call, list(equation.args)
    (made,) = equation.outputs
    name, dtype = _name(equation), made.dtype.name
    if call.name in _FILLED:
        return "same", [_FILLED[call.name]], dtype
    if call.name == "full_like":
        return ("same", [args[1]], dtype) if len(args) > 1 and _is_number(args[1]) else None
    if call.name == "copyto":
        return _copied(args[1], made)
    if call.name in _COPIES:
        return _copied(args[0], made)
    if equation.kwargs or not all([isinstance(a, Value) or _is_number(a) for a in args]):
        return None
    if name in ("pow", "power"):
        exponent = args[1]
        if not is_number(exponent) or exponent not in _POWERS or made.dtype.kind != "f":
            return None
        name, args = _POWERS[exponent], args[:1]
    if name not in FUNCTIONS or not any([isinstance(a, Value) for a in args]):
        return None
    rest = args[1:] if name == "where" else args
    taken = np.result_type(*[_stand_in(a) for a in rest]) if name != "where" else made.dtype
    if taken.name not in BITS:
        return None
    whole = taken.kind in "iu"
    if name in _COMPARED:
        known = name not in ("isnan", "isfinite") or taken.kind == "f"
        return (name, args, taken.name) if known else None
    if taken != made.dtype:
        if call.name not in ("logical_and", "logical_or", "logical_not") or dtype != "bool":
            return None
        taken = made.dtype
    if whole and any([not float(a).is_integer() for a in rest if _is_number(a)]):
        return None
    if taken.kind == "b" and name not in ("and_", "or_", "xor", "invert", "where", "add", "mul"):
        return None
    if taken.kind in "iu" and name not in ("add", "sub", "mul", "where", "maximum", "minimum"):
        return None
    if taken.kind == "f" and name in ("and_", "or_", "xor", "invert"):
        return None
    return name, args, taken.name


def _is_number(x: Any) -> bool:
    return is_number(x) and not isinstance(x, complex)


def _stand_in(x: Any) -> Any:
    """An argument as NumPy's promotion sees it."""
    if isinstance(x, Value):
        return x.dtype
    return x


def _copied(x: Any, made: Value) -> tuple[str, list[Any], str] | None:
    if not isinstance(x, Value):
        return ("same", [x], made.dtype.name) if _is_number(x) else None
    if x.dtype.kind == "f" and made.dtype.kind in "iu":
        return None
    return "same", [x], x.dtype.name


class _Call:
    """How the loop of a group is called: the plan, and arrays and numbers for it."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.numbers: list[float] = []
        self.counts: dict[Value, int] = {}  # by which what ends as a sum is divided: means
        self.places = {value: i for i, value in enumerate(group.inputs)}
        self._made: list[Step] = []
        for equation in group.equations:
            (value,) = equation.outputs
            self.places[value] = self._place(equation, value)
        inputs = tuple([(v.dtype.name, group.extents[v]) for v in group.inputs])
        outputs = tuple([self.places[v] for v in group.outputs])
        self.plan = Plan(inputs, tuple(self._made), outputs)
        self._kept_dtypes = [np.dtype(self.plan.dtype(v)) for v in self.plan.kept()]
        self.loop = loop_of(self.plan)
        self.loop.at(np.dtype("float64"))

    def _add(self, *step: Any) -> int:
        self._made.append(Step(*step))
        return len(self.group.inputs) + len(self._made) - 1

    def _place(self, equation: Equation, made: Value) -> int:
        """The place of what an equation gives, whose steps are added."""
        group, dtype = self.group, made.dtype.name
        extent, end = group.extents[made], made in group.ends
        name = _name(equation)
        if name in REDUCTIONS or name == "mean":
            x = equation.args[0]
            kind = "sum" if name == "mean" else name
            place = self._add(kind, (self.places[x],), dtype, dtype, extent, end)
            if name != "mean":
                return place
            count = prod([x.shape[a] for a in reduced_axes(equation)])
            if end:
                self.counts[made] = count
                return place
            return self._add("truediv", (place, self._slot(count)), dtype, dtype, extent)
        kind, args, taken = _operands(equation) or ("same", [equation.args[0]], dtype)
        operands = tuple([self._operand(a, taken) for a in args])
        return self._add(kind, operands, taken, dtype, extent)

    def _slot(self, number: float) -> Slot:
        self.numbers.append(float(number))
        return Slot(len(self.numbers) - 1)

    def _operand(self, x: Any, taken: str) -> int | Slot | Literal:
        if isinstance(x, Value):
            return self.places[x]
        return self._slot(x) if taken.startswith("float") else Literal(int(x))

    # ------------------------------------------------------------------ calling

    def function(self) -> Callable[..., tuple[Any, ...]]:
        """What computes the group of arrays of its inputs: in threads where these are large."""
        alone = self._alone()
        group = self.group
        serial = group.rows == 1 and max(self.plan.stages()) > 0
        if serial or group.rows * group.columns < 2 * LEAST:
            return alone

        def run(*arrays: Any) -> tuple[Any, ...]:
            edges = self._edges()
            return alone(*arrays) if len(edges) == 2 else self._in_parts(edges, arrays)

        return run

    def _edges(self) -> list[int]:
        """Where parts begin, of the rows or of the one row's columns."""
        rows, columns = self.group.rows, self.group.columns
        if rows == 1:
            return parallel.bounds(columns, LEAST)
        return parallel.bounds(rows, -(-LEAST // columns))

    def _first(self, value: Value) -> float:
        """What a reduction begins with."""
        step = self.plan.steps[self.places[value] - len(self.group.inputs)]
        return REDUCTIONS[step.name][1]

    def _kept(self) -> list[Any]:
        """Room for a row of what later stages read again."""
        return [np.empty(self.group.columns, dtype) for dtype in self._kept_dtypes]

    def _alone(self) -> Callable[..., tuple[Any, ...]]:
        """The text of a call in one part, as a function."""
        group = self.group
        scope: dict[str, Any] = {"empty": np.empty, "full": np.full, "kept": self._kept}
        scope["loop"] = self.loop.at(np.dtype("float64"))
        scope["numbers"] = np.array(self.numbers, "float64")
        scope["aligned"] = _aligned
        given = [f"a{i}" for i in range(len(group.inputs))]
        lines, results = [f"def run({', '.join(given)}):"], []
        for i, value in enumerate(group.outputs):
            scope[f"d{i}"] = value.dtype
            scope[f"n{i}"] = value.dtype.type(self.counts.get(value, 1))
            make = f"empty({value.size}, d{i})"
            if value in group.ends and value.size > 1:
                make = f"full({value.size}, {self._first(value)!r}, d{i})".replace("inf", "INF")
            lines.append(f"    y{i} = {make}")
            text = f"(y{i} / n{i})" if value in self.counts else f"y{i}"
            text += f".reshape({value.shape})" if len(value.shape) != 1 else ""
            results.append(text + "[()]" * value.scalar)
        scope["INF"] = inf
        outputs = [f"y{i}" for i in range(len(results))]
        scratch = ["*kept()"] if self._kept_dtypes else []
        sizes = [str(n) for n in (group.columns, 0, group.rows, 0, group.columns)]
        flat = [f"{name}.ravel()" for name in given]
        lines.append("    try:")
        lines.append(f"        loop({', '.join([*flat, *outputs, *scratch, 'numbers', *sizes])})")
        lines.append("    except TypeError:")  # an array that is not aligned
        flat = [f"aligned({name})" for name in given]
        lines.append(f"        loop({', '.join([*flat, *outputs, *scratch, 'numbers', *sizes])})")
        lines.append(f"    return ({''.join([text + ', ' for text in results])})")
        exec("\n".join(lines) + "\n", scope)
        return scope["run"]  # type: ignore[no-any-return]

    def _in_parts(self, edges: list[int], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        group = self.group
        read = [_aligned(array) for array in arrays]
        numbers = np.array(self.numbers, "float64")
        parts = len(edges) - 1
        written = [
            np.full((parts, value.size), self._first(value), value.dtype)
            if value in group.ends
            else np.empty(value.size, value.dtype)
            for value in group.outputs
        ]
        calls = []
        for i, (start, stop) in enumerate(pairwise(edges)):
            own = [y[i] if y.ndim == 2 else y for y in written]
            one = group.rows == 1
            at = (0, 1, start, stop) if one else (start, stop, 0, group.columns)
            calls.append((*read, *own, *self._kept(), numbers, group.columns, *at))
        parallel.each(self.loop, calls)
        return tuple([self._whole(v, y) for v, y in zip(group.outputs, written, strict=True)])

    def _whole(self, value: Value, y: Any) -> Any:
        """An output, of which parts may have been reduced by themselves."""
        if y.ndim == 2:
            step = self.plan.steps[self.places[value] - len(self.group.inputs)]
            y = (
                getattr(np, step.name)(y, axis=0, dtype=value.dtype)
                if step.name == "sum"
                else (getattr(np, step.name)(y, axis=0))
            )
            if value in self.counts:
                y = y / value.dtype.type(self.counts[value])
        y = y.reshape(value.shape)
        return y[()] if value.scalar else y


def _aligned(array: Any) -> Any:
    flat = np.asarray(array).ravel()
    return flat if flat.flags.aligned else flat.copy()
