"""Conversion of dtypes."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_array, as_variable, choice
from core.arrays.backend import BACKENDS
from core.errors import InvalidSetting, InvalidType
from core.graph.fitting import is_array
from core.typing import Array, DType

HALVES = ("float16", "bfloat16")


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


def cast(x: Array, typ: DType) -> Variable:
    """Cast to another dtype; the gradient is cast back.

    Integers and truth values have no gradient.

    Args:
        x: Of any shape and dtype.
        typ: The new dtype, or its name.

    Returns:
        The shape of `x`; `x` itself where it has the dtype.

    Raises:
        InvalidSetting: `typ` is None or a Variable.
        BackendError: The backend of `x` has no such dtype.

    >>> import core.functions as F, numpy as np
    >>> F.cast(np.ones(2, "f"), "float64")
    variable([1., 1.])
    """
    if typ is None or isinstance(typ, Variable):
        came = "None" if typ is None else "a Variable"
        raise InvalidSetting(f"cast: expected typ to be a dtype or the name of one, got {came}")
    x = as_variable(x)
    backend, dtype = x.backend, x.dtype
    to = backend.dtype(typ)
    if dtype == to:
        return x
    before, after = backend.kind(dtype), backend.kind(to)
    if before == "c" != after:
        refuse_complex(f"cast to {backend.dtype_name(to)}", x)
    if after in "biu":
        lost = f"to {backend.dtype_name(to)}"
    elif before in "biu" and x.requires_grad:
        lost = f"from {backend.dtype_name(dtype)}"
    else:
        return Cast.call(x, typ)
    y = Cast.call(x.array, typ)
    y._nondifferentiable = f"Cast {lost}"
    return y


def halves_widened(x: Variable, *others: Array) -> list[Variable] | None:
    """`x` and others with what is of 16-bit floats in float32; None where `x` is not of these.

    For functions of several operations that take sums over a batch, which 16 bits may not hold.
    """
    if x.backend.dtype_name(x.dtype) not in HALVES:
        return None
    given = [x, *map(as_variable, others)]
    return [cast(a, "float32") if a.dtype == x.dtype else a for a in given]


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
