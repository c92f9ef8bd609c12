"""Changing dtypes."""

from __future__ import annotations

from typing import Any

from core.arrays.backend import BACKENDS
from core.errors import InvalidType
from core.graph.fitting import is_array
from core.graph.variable import Variable, as_array, as_variable
from core.ops.function_node import FunctionNode
from core.ops.types.domain import Domain
from core.ops.types.values import anything, choice


class Cast(FunctionNode):
    """Cast x to another dtype, and the gradient back."""

    typ: Any
    domain = Domain("(...)->(...)", x=anything(), settings={"typ": choice("float32", "float64")})

    @property
    def type(self) -> Any:
        """The dtype, by the name that it had as an attribute."""
        return self.typ

    def compute(self, xp, x):
        return xp.astype(x, self.backend.dtype(self.typ))

    def gradient(self, xp, g):
        return xp.astype(g, self.input_dtype(0))


def arrays_in(operands: tuple[Any, ...]) -> list[Any]:
    """The arrays of the Variables and arrays among some operands."""
    return [a for a in map(as_array, operands) if is_array(a)]


def is_complex(*operands: Any) -> bool:
    """Whether some operand is an array or a Variable of complex numbers."""
    return any([BACKENDS[type(a)].kind(a.dtype) == "c" for a in arrays_in(operands)])


def refuse_complex(name: str, *operands: Any) -> None:
    """Raise, for the function of that name, where an operand is an array of complex numbers."""
    for a in arrays_in(operands):
        if is_complex(a):
            dtype = BACKENDS[type(a)].dtype_name(a.dtype)
            came = f"{dtype} (use the .array, or compute with real and imaginary parts)"
            raise InvalidType("x.dtype is real-valued", came, operation=name)


def cast(x: Any, dtype: Any) -> Variable:
    """Cast x to a dtype; one that has it is returned as it is. Integers have no gradient."""
    x = as_variable(x)
    to = x.backend.dtype(dtype)
    if x.dtype == to:
        return x
    if x.backend.kind(to) != "c":
        refuse_complex(f"cast to {x.backend.dtype_name(to)}", x)
    if x.backend.kind(to) not in "biu":
        return Cast.call(x, dtype)
    whole = Cast.call(x.array, dtype)
    whole._nondifferentiable = f"Cast to {x.backend.dtype_name(to)}"
    return whole
