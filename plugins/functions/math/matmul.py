"""Matrix products."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core import Variable, as_variable
from core.errors import InvalidType
from core.errors.kinds import checked
from core.errors.removed import removed
from core.typing import Array
from plugins.functions.array.axis_order import matrix_transpose
from plugins.functions.composed import Composed
from plugins.functions.math.product import product


class MatMul(Composed):
    """The product of matrices, or of stacks of them, with optional transposes; see `matmul`."""

    def __init__(self, transa: bool = False, transb: bool = False) -> None:
        self.transa = transa
        self.transb = transb

    def apply(self, inputs: Iterable[Any]) -> tuple[Variable, ...]:
        """The product of the two inputs."""
        a, b = inputs
        return (matmul(a, b, self.transa, self.transb),)


@removed()
def matmul(a: Array, b: Array, transa: bool = False, transb: bool = False) -> Variable:
    """Multiply matrices, stacks of matrices, or vectors.

    A vector counts as a row on the left and as a column on the right, and transposing leaves it.
    Leading axes broadcast.

    Args:
        a: (..., n, k) or (k,), floating; (..., k, n) with `transa`.
        b: (..., k, m) or (k,), floating; (..., m, k) with `transb`.
        transa: Whether the last two axes of `a` change places first.
        transb: The same of `b`.

    Returns:
        (..., n, m), without the axis that a vector does not have, and the wider of the dtypes.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> a = np.array([[1, 2], [3, 4]], "f")
    >>> F.matmul(a, np.array([1, 1], "f"), transa=True)
    variable([4., 6.], dtype=float32)
    """
    if transa is False and transb is False:
        return product(a, b)
    return _matmul(a, b, transa, transb)


@checked
def _matmul(a: Any, b: Any, transa: bool, transb: bool) -> Variable:
    return product(_turned(a, transa), _turned(b, transb))


def _turned(x: Any, transposes: bool) -> Any:
    x = as_variable(x)
    return matrix_transpose(x) if transposes and x.ndim > 1 else x


@checked
def batch_matmul(a: Array, b: Array, transa: bool = False, transb: bool = False) -> Variable:
    """Multiply two batches of matrices, one by one.

    Args:
        a: (batch, n, k), or (batch, n) for columns, floating.
        b: (batch, k, m), or (batch, k) for columns, floating.
        transa: Whether the matrices of `a` are transposed first.
        transb: The same of `b`.

    Returns:
        (batch, n, m), and the wider of the dtypes.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> a = np.array([[1, 2], [3, 4]], "f")
    >>> F.batch_matmul(a, a, transa=True)
    variable([[[ 5.]],
    <BLANKLINE>
              [[25.]]], dtype=float32)
    """
    a, b = _matrices(a, "a"), _matrices(b, "b")
    if len(a) != len(b):
        raise _refused("a.shape[0] == b.shape[0]", f"{len(a)} != {len(b)}")
    return product(_turned(a, transa), _turned(b, transb))


def _matrices(x: Any, name: str) -> Variable:
    x = as_variable(x)
    if x.ndim not in (2, 3):
        raise _refused(f"2 <= {name}.ndim <= 3", f"{name}.ndim is {x.ndim}")
    return x if x.ndim == 3 else x.reshape((*x.shape, 1))


def _refused(expect: str, actual: str) -> InvalidType:
    return InvalidType(expect, actual, operation="batch_matmul")
