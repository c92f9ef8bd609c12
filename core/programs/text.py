"""Equations as text that reads like NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.arrays.backend import host
from core.programs.equation import Call, Equation, Value

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}
_PREFIX = {"neg": "-", "pos": "+", "invert": "~"}


class Writer:
    """Writes equations; `name` gives the text of a value.

    `rare` gives the text of what has no literal of its own.
    """

    def __init__(
        self, name: Callable[[Value], str], rare: Callable[[Any], str] | None = None
    ) -> None:
        self.name = name
        self._rare = rare or _shown

    def expression(self, equation: Equation) -> str:
        """The right-hand side."""
        call, args = equation.call, equation.args
        if call.kind == "operator":
            return self._operator(call.name, args)
        if call.kind == "attribute":
            return f"{self._operand(args[0])}.{call.name}"
        if call.kind == "method":
            return (
                f"{self._operand(args[0])}.{call.name}({self.arguments(args[1:], equation.kwargs)})"
            )
        return f"{self.function(call)}({self.arguments(args, equation.kwargs)})"

    def rare(self, x: Any) -> str:
        """The text of what has no literal of its own."""
        return self._rare(x)

    def function(self, call: Call) -> str:
        """The name of what is called."""
        prefix = {"xp": "np.", "random": "random."}.get(call.kind, "")
        return prefix + call.name

    def arguments(self, args: Any, kwargs: dict[str, Any]) -> str:
        """The arguments of a call."""
        return ", ".join(
            [*map(self.literal, args), *[f"{k}={self.literal(v)}" for k, v in kwargs.items()]]
        )

    def _operator(self, name: str, args: Any) -> str:
        if name == "getitem":
            return f"{self._operand(args[0])}[{self.index(args[1])}]"
        if name in _INFIX:
            return f"{self._operand(args[0])} {_INFIX[name]} {self._operand(args[1])}"
        if name in _PREFIX:
            return _PREFIX[name] + self._operand(args[0])
        return f"{name}({self.literal(args[0])})"  # abs

    def _operand(self, x: Any) -> str:
        text = self.literal(x)
        return f"({text})" if text.startswith("-") else text

    def index(self, index: Any) -> str:
        """What stands between brackets."""
        if isinstance(index, tuple) and index:
            parts = ", ".join(map(self._position, index))
            return parts + "," * (len(index) == 1)
        return self._position(index)

    def _position(self, part: Any) -> str:
        if isinstance(part, slice):
            ends = ["" if end is None else self.literal(end) for end in (part.start, part.stop)]
            return ":".join(ends) + ("" if part.step is None else f":{self.literal(part.step)}")
        return "..." if part is Ellipsis else self.literal(part)

    def literal(self, x: Any) -> str:
        """The text of an argument."""
        if isinstance(x, Value):
            return self.name(x)
        if isinstance(x, tuple) and not hasattr(x, "_fields"):
            return f"({', '.join(map(self.literal, x))}{',' * (len(x) == 1)})"
        if isinstance(x, list):
            return f"[{', '.join(map(self.literal, x))}]"
        if isinstance(x, float) and type(x) is float:
            return repr(x) if x - x == 0 else f'float("{x}")'
        if x is None or type(x) in (bool, int, str, complex):
            return repr(x)
        if x is Ellipsis:
            return "..."
        if isinstance(x, slice):
            return f"slice({self.literal(x.start)}, {self.literal(x.stop)}, {self.literal(x.step)})"
        return self.rare(x)


def numpys(x: Any) -> str | None:
    """The text of a dtype, or a scalar, of NumPy's; None for anything else."""
    xp = host().xp
    if isinstance(x, type) and x in (bool, int, float, complex):  # dtypes as well
        return x.__name__
    if isinstance(x, xp.dtype):
        known = getattr(xp, x.name, None)
        return f"np.{x.name}" if isinstance(known, type) and xp.dtype(known) == x else None
    if isinstance(x, type) and issubclass(x, xp.generic):
        return f"np.{x.__name__}"
    if isinstance(x, xp.generic):
        number: Any = x.item()  # Python's, of which infinities are subtracted without a warning
        if x.dtype.kind in "biu" or number - number == 0:
            return f"np.{type(x).__name__}({number!r})"
    return None


def _shown(x: Any) -> str:
    return numpys(x) or repr(x)


def spec_text(value: Value) -> str:
    """Shape and dtype, as `float32[100, 10]`."""
    return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
