"""The identity function."""

from __future__ import annotations

from typing import overload

from core import Domain, FunctionNode, Variable, anything
from core.typing import Array


class Identity(FunctionNode):
    """x itself, as a step of the graph."""

    domain = Domain("(...)->(...)", x=anything())

    def compute(self, xp, x):
        return x

    def gradient(self, xp, g):
        return g


@overload
def identity(x: Array, y: Array, /, *inputs: Array) -> tuple[Variable, ...]: ...
@overload
def identity(x: Array, /) -> Variable: ...
def identity(*inputs: Array) -> Variable | tuple[Variable, ...]:
    """Return the arguments unchanged, as steps of the graph.

    Args:
        *inputs: Arrays or Variables of any dtypes and shapes.

    Returns:
        A Variable for one argument, otherwise a tuple of them.

    >>> import core.functions as F, numpy as np
    >>> F.identity(np.zeros(2, "f"))
    variable([0., 0.], dtype=float32)
    """
    outputs = tuple([Identity.call(x) for x in inputs])
    return outputs[0] if len(outputs) == 1 else outputs
