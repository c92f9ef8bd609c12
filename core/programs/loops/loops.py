"""What the loops of a backend are asked for: equations read as steps, and groups of them as plans.

A backend says of which dtypes its loops are and which functions it can write; what equations mean,
by whatever name the array library has for it, is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import prod
from typing import Any

from core.arrays.backend import host
from core.errors.scalars import is_number
from core.programs.equation import Equation, Value
from core.programs.fuser import Fuser
from core.programs.group import Group, reduced_axes
from core.programs.loops.plan import FIRST, Literal, Plan, Slot, Step

NAMES = {
    "iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "truediv", "add_in_place": "add",
    "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv",
    "negative": "neg", "positive": "pos", "absolute": "abs", "fabs": "abs",
    "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "equal": "eq",
    "not_equal": "ne", "logical_and": "and_", "logical_or": "or_", "logical_not": "invert",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_invert": "invert", "iand": "and_",
    "ior": "or_", "amax": "max", "amin": "min",
}  # fmt: skip
_COPIES = frozenset(["astype", "copy", "asarray", "broadcast_to"])
_GIVING: dict[str, Callable[[list[Any]], Any]] = {
    **dict.fromkeys(_COPIES, lambda args: args[0]),
    "copyto": lambda args: args[1],
    "zeros_like": lambda args: 0.0,
    "ones_like": lambda args: 1.0,
    "full_like": lambda args: args[1] if len(args) > 1 else None,
}  # what the elements of such an array are
_RELABELLED = frozenset(["reshape", "expand_dims", "squeeze", "getitem"])
_ORDERED = frozenset(["lt", "le", "gt", "ge", "eq", "ne"])
_COMPARED = _ORDERED | {"isnan", "isfinite"}
_LOGICAL = frozenset(["logical_and", "logical_or", "logical_not"])
_POWERS = {1: "same", 2: "square", 0.5: "sqrt", -1: "reciprocal"}
_OF_BITS = frozenset(["and_", "or_", "xor", "invert"])
_OF_BOOLEANS = _ORDERED | _OF_BITS | {"where", "add", "mul"}
_OF_WHOLE = _ORDERED | {"add", "sub", "mul", "where", "maximum", "minimum"}


def name_of(equation: Equation) -> str:
    """What an equation computes, by its one name."""
    name = equation.call.name
    return NAMES.get(name, name)


def is_real(dtype: Any) -> bool:
    """Whether numbers of a dtype are real; bfloat16, which is no kind of NumPy's, included."""
    return "float" in dtype.name


class LoopFuser(Fuser):
    """A fuser of loops over values of some `dtypes`, by name, that computes some `functions`."""

    dtypes: Collection[str] = ()
    functions: Collection[str] = ()

    def part(self, equation: Equation) -> str:
        """What an equation can be in a loop."""
        call, outputs = equation.call, equation.outputs
        if call.kind in ("kernel", "backend", "random", "attribute") or len(outputs) != 1:
            return ""
        (made,) = outputs
        values = [*equation.inputs, made]
        if equation.several or not all([v.size and self._knows(v.dtype) for v in values]):
            return ""
        name = name_of(equation)
        if name in FIRST or name == "mean":
            return "reduction" if _reduces(equation) else ""
        if call.name in _RELABELLED:
            same = equation.inputs[0].shape == made.shape
            return ("elementwise" if same else "relabelled") if _relabels(equation) else ""
        return "elementwise" if self.operands(equation) is not None else ""

    def _knows(self, dtype: Any) -> bool:
        return dtype.name in self.dtypes and dtype.isnative

    def made(self, group: Group) -> Callable[..., tuple[Any, ...]] | None:
        """None: nothing is worth while."""
        return None

    def computing(self, group: Group) -> list[Equation]:
        """The equations of a group that do more than copy."""
        return [e for e in group.equations if name_of(e) not in _COPIES | _RELABELLED]

    def operands(self, equation: Equation) -> tuple[str, list[Any], str] | None:
        """What an elementwise equation computes, of what, in which dtype; None if unknown."""
        args = list(equation.args)
        (made,) = equation.outputs
        if equation.call.name in _GIVING:
            return _copied(_GIVING[equation.call.name](args), made)
        if equation.kwargs or not all([isinstance(a, Value) or _is_number(a) for a in args]):
            return None
        name = name_of(equation)
        if name in ("pow", "power"):
            name, args = _power(args[1], made), args[:1]
        if name not in self.functions or not any([isinstance(a, Value) for a in args]):
            return None
        taken = self._taken(equation, name, args)
        return None if taken is None else (name, args, taken.name)

    def _taken(self, equation: Equation, name: str, args: list[Any]) -> Any:
        """The dtype in which a loop computes a function as NumPy does; None where there is none."""
        (made,) = equation.outputs
        taken = made.dtype if name == "where" else _result_type(args)
        if taken.name not in self.dtypes:
            return None
        if taken != made.dtype and name not in _COMPARED:
            if equation.call.name not in _LOGICAL or made.dtype.name != "bool":
                return None
            taken = made.dtype
        if is_real(taken):
            return None if name in _OF_BITS else taken
        return taken if name in (_OF_BOOLEANS if taken.kind == "b" else _OF_WHOLE) else None


def _power(exponent: Any, made: Value) -> str:
    """The function that a power is by another name; nothing where there is none."""
    known = is_number(exponent) and is_real(made.dtype)
    return _POWERS.get(exponent, "") if known else ""


def _result_type(args: list[Any]) -> Any:
    return host().xp.result_type(*[a.dtype if isinstance(a, Value) else a for a in args])


def _reduces(equation: Equation) -> bool:
    x, *rest = equation.args
    (made,) = equation.outputs
    more = set(equation.kwargs) - {"axis", "keepdims", "dtype"}
    if not isinstance(x, Value) or len(rest) > 1 or more or not x.shape:
        return False
    return bool(x.dtype == made.dtype and is_real(x.dtype) and reduced_axes(equation))


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


def _is_number(x: Any) -> bool:
    return is_number(x) and not isinstance(x, complex)


def _copied(x: Any, made: Value) -> tuple[str, list[Any], str] | None:
    if not isinstance(x, Value):
        return ("same", [x], made.dtype.name) if _is_number(x) else None
    if is_real(x.dtype) and made.dtype.kind in "iu":
        return None
    return "same", [x], x.dtype.name


class Planned:
    """The plan of a group, and the numbers that its loop is given."""

    def __init__(self, group: Group, fuser: LoopFuser) -> None:
        self.group = group
        self._fuser = fuser
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

    def _add(self, *step: Any) -> int:
        self._made.append(Step(*step))
        return len(self.group.inputs) + len(self._made) - 1

    def _place(self, equation: Equation, made: Value) -> int:
        """The place of what an equation gives, whose steps are added."""
        group, dtype = self.group, made.dtype.name
        extent, end = group.extents[made], made in group.ends
        name = name_of(equation)
        if name in FIRST or name == "mean":
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
        found = self._fuser.operands(equation)
        kind, args, taken = found or ("same", [equation.args[0]], dtype)
        operands = tuple([self._operand(a, taken) for a in args])
        return self._add(kind, operands, taken, dtype, extent)

    def _slot(self, number: float) -> Slot:
        self.numbers.append(float(number))
        return Slot(len(self.numbers) - 1)

    def _operand(self, x: Any, taken: str) -> int | Slot | Literal:
        if isinstance(x, Value):
            return self.places[x]
        if taken == "bool":
            x = bool(x)  # of which 2 and 0.5 are true
        return self._slot(x) if "float" in taken else Literal(int(x))

    def step_of(self, value: Value) -> Step:
        """The step that gives a value."""
        return self.plan.steps[self.places[value] - len(self.group.inputs)]

    def first(self, value: Value) -> float:
        """What a reduction begins with."""
        return FIRST[self.step_of(value).name]
