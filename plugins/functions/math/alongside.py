"""Arrays that belong to some axes of another, made to broadcast with it."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable
from core.errors import InvalidType
from core.typing import Array


def alongside(where: str, x: Array, y: Any, axis: int, name: str = "y") -> Variable:
    """`y` in a shape that broadcasts with `x`: its axes are those of `x` from `axis` on.

    Raises InvalidType, in the name of the function `where`, unless the shapes say so.

    >>> import numpy as np
    >>> alongside("scale", np.zeros((2, 3, 4)), np.zeros(3), 1).shape
    (3, 1)
    """
    x, y = as_variable(x), as_variable(y)
    if not -x.ndim <= axis <= x.ndim:
        raise _refused(where, f"{-x.ndim} <= axis <= {x.ndim}", str(axis))
    start = axis if axis >= 0 else axis + x.ndim
    stop = start + y.ndim
    if x.shape[start:stop] != y.shape:
        raise _refused(
            where, f"x.shape[{start}:{stop}] == {name}.shape", f"{x.shape[start:stop]} != {y.shape}"
        )
    return y if stop == x.ndim else y.reshape(y.shape + (1,) * (x.ndim - stop))


def _refused(where: str, expect: str, actual: str) -> InvalidType:
    return InvalidType(expect, actual, operation=where)
