"""Sums of products, exact enough for 16-bit gradients, and norms that nobody has to wait for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import compress
from typing import Any

from core import FunctionNode
from core.arrays import backend
from core.arrays.array_backend import unwrapped
from core.errors.scalars import is_number

SMALL = 2048  # elements, below which a call costs more than the sum


class SquaredNorm(FunctionNode):
    """The sum of squares of all elements."""

    def compute(self, xp: Any, x: Any) -> Any:
        """Float16 and bfloat16 count in float32."""
        return inner(x, x)


def squared_norm(array: Any) -> Any:
    """The sum of squares as an array without axes; float16 and bfloat16 count in float32."""
    return SquaredNorm().evaluate(unwrapped(array))


class SquaredNorms(FunctionNode):
    """The sums of squares of all elements of each of several arrays."""

    def compute(self, xp: Any, *arrays: Any) -> Any:
        """Float16 and bfloat16 count in float32."""
        return xp.stack([xp.asarray(inner(x, x)) for x in arrays])


def squared_norms(arrays: Iterable[Any]) -> list[Any]:
    """The `squared_norm` of each array of the host; small ones are asked for in one call.

    What is found of an array does not depend on which others there are: where processes divide
    them, all have to find the same.
    """
    arrays = [unwrapped(x) for x in arrays]
    small = [0 < x.size < SMALL and x.dtype.kind == "f" for x in arrays]
    found: Iterable[Any] = SquaredNorms().evaluate(*compress(arrays, small)) if any(small) else ()
    of_small = map(float, found)
    return [next(of_small) if s else squared_norm(x) for x, s in zip(arrays, small, strict=True)]


def wide_squared_norm(array: Any) -> Any:
    """`squared_norm` in the widest real dtype, which holds squares of all narrower numbers."""
    home = backend.of(array)
    with home.beside(array):
        wide = _wide(home, array)
        return inner(wide, wide)


def inner(array: Any, other: Any) -> Any:
    """The sum of products of two arrays alike; float16 and bfloat16 count in float32."""
    home = backend.of(array)
    if home.dtype_name(array.dtype) in ("float16", "bfloat16"):
        wide, device = home.dtype("float32"), home.device_of(array)
        array, other = home.asarray(array, wide, device), home.asarray(other, wide, device)
    return home.xp.sum(array * other)


def norm(array: Any) -> Any:
    """The root of the sum of squares, as an array without axes of the widest real dtype."""
    home = backend.of(array)
    return home.xp.sqrt(_wide(home, squared_norm(array)))


def joint_norm(squares: list[Any]) -> Any:
    """The root of a sum of squares of several arrays, which are numbers, or arrays without axes.

    A number where the host has them all: it then follows from no order. Else an array on the device
    of the first, for to look at it would be to wait for the device.
    """
    arrays = [x for x in squares if not is_number(x)]
    home = backend.of(*arrays[:1]) if arrays else backend.host()
    if home is backend.host():
        return math.sqrt(math.fsum(map(float, squares)))
    device = home.device_of(arrays[0])
    with home.beside(arrays[0]):
        wide = [_wide(home, device.send(x)) for x in squares]
        return home.xp.sqrt(home.xp.sum(home.xp.stack(wide)))


def _wide(home: Any, x: Any) -> Any:
    name = "float64" if "float64" in home.dtypes() else "float32"
    return home.xp.astype(x, home.dtype(name), copy=False)
