"""Arrays repeated up to a common shape."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable, intrinsics
from core.domain import broadcast_shapes
from core.errors import InvalidType
from core.intrinsics import BroadcastTo as BroadcastTo


def broadcast_to(x: Any, shape: Any) -> Variable:
    """Repeat along new axes and along those of length 1, up to a shape.

    Args:
        x: Of any dtype, and a shape that broadcasts to `shape`.
        shape: The new shape.

    Returns:
        The dtype of `x`; `x` itself where it has the shape.

    Raises:
        InvalidType: The shape of `x` does not broadcast to `shape`.

    >>> import core.functions as F, numpy as np
    >>> F.broadcast_to(np.array([1, 2], "f"), (2, 2))
    variable([[1., 2.],
              [1., 2.]], dtype=float32)
    """
    return intrinsics.broadcast_to(x, shape)


def broadcast(*args: Any) -> Any:
    """Repeat all arguments up to their common shape.

    Args:
        *args: Arrays or Variables of any dtypes, with shapes that broadcast.

    Returns:
        A tuple of Variables; a single Variable for a single argument.

    Raises:
        InvalidType: The shapes do not broadcast.

    >>> import core.functions as F, numpy as np
    >>> x, y = F.broadcast(np.zeros((2, 1), "f"), np.zeros(3, "f"))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    variables = [as_variable(x) for x in args]
    shapes = [x.shape for x in variables]
    try:
        shape = broadcast_shapes(shapes)
    except ValueError:
        error = InvalidType("shapes that broadcast", " and ".join(map(str, shapes)))
        error.operation = "broadcast"
        raise error from None
    outputs = tuple([intrinsics.broadcast_to(x, shape) for x in variables])
    return outputs[0] if len(outputs) == 1 else outputs
