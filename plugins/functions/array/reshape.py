"""Changes of shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from core import Domain, FunctionNode, Variable, anything, as_variable, choice
from core.errors.scalars import is_whole
from core.typing import Array


class Reshape(FunctionNode):
    """Reshape x, whose elements are read in row-major order."""

    shape: tuple[int, ...]
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"shape": choice(lambda shapes: _reshapings(shapes["x"]))},
        valid=(
            "shape.count(-1) < 2",
            "-1 in shape or x.size == prod(shape)",
            "-1 not in shape or prod(shape) != 0",
            "-1 not in shape or x.size % -prod(shape) == 0",
        ),
    )

    def compute(self, xp, x):
        return xp.reshape(x, self.shape)

    def gradient(self, xp, g):
        return xp.reshape(g, self.input_shape(0))


def reshape(x: Array, shape: int | Sequence[int]) -> Variable:
    """Reshape `x`; the elements stay in row-major order.

    Args:
        x: Of any shape and dtype.
        shape: The new shape; one entry may be -1, which is worked out from the rest.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: The new shape has another number of elements.

    >>> import core.functions as F, numpy as np
    >>> F.reshape(np.arange(4, dtype="f"), (2, -1))
    variable([[0., 1.],
              [2., 3.]], dtype=float32)
    """
    wanted = (shape,) if type(shape) is not tuple and is_whole(shape) else shape
    return Reshape.call(x, wanted)


def flatten(x: Array) -> Variable:
    """Put all elements along one axis, in row-major order.

    Args:
        x: Of any shape and dtype.

    Returns:
        One axis, and the dtype of `x`.

    >>> import core.functions as F, numpy as np
    >>> F.flatten(np.ones((2, 2), "f"))
    variable([1., 1., 1., 1.], dtype=float32)
    """
    x = as_variable(x)
    return reshape(x, (x.size,))


def _reshapings(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    size = prod(shape)
    return [(size,), (1, size), (-1, 1) if size else (size, 1)]
