"""Products over several axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from core import Variable, as_variable
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, Shape
from plugins.functions.array.axis_order import transpose
from plugins.functions.array.reshape import reshape
from plugins.functions.axes import axes_of
from plugins.functions.math.product import MatMul


@checked
def tensordot(a: Array, b: Array, axes: int | Sequence[int | Sequence[int]] = 2) -> Variable:
    """Sum the products of two arrays over axes of both.

    Args:
        a: Floating, of any shape.
        b: Of the dtype of `a`.
        axes: How many: so many of the last of `a` are summed with the first of `b`, in order. Or a
            pair: the axes of `a`, and those of `b` they are summed with; each an int or several.

    Returns:
        The dtype of `a`; the other axes of `a`, then the others of `b`.

    Raises:
        InvalidType: There are no such axes, or no such number of them, or two that belong together
            differ in length.
        ValueError: An axis comes twice, or there are more of one array than of the other.

    >>> import core.functions as F, numpy as np
    >>> a = np.array([[1, 2], [3, 4]], "f")
    >>> F.tensordot(a, a)
    variable(30., dtype=float32)
    >>> F.tensordot(a, a, axes=(0, 1))
    variable([[ 7., 15.],
              [10., 22.]], dtype=float32)
    """
    a, b = as_variable(a), as_variable(b)
    return contracted(a, b, *axes_over(a, b, axes))


def axes_over(a: Variable, b: Variable, axes: Any) -> tuple[Shape, Shape]:
    """The axes of `a` and of `b` that are summed over, counted from 0, of equal lengths."""
    over_a, over_b = _pair(axes)
    _check(over_a, a, "a")
    _check(over_b, b, "b")
    if len(over_a) != len(over_b):
        raise ValueError(f"tensordot: expected as many axes of a as of b, got {axes}")
    for i, j in zip(over_a, over_b, strict=True):
        if a.shape[i] != b.shape[j]:
            raise _refused(f"a.shape[{i}] == b.shape[{j}]", f"{a.shape[i]} != {b.shape[j]}")
    return axes_of(over_a, a.ndim), axes_of(over_b, b.ndim)


def contracted(a: Variable, b: Variable, over_a: Shape, over_b: Shape) -> Variable:
    """The products of `a` and `b`, summed over pairs of axes of equal length, counted from 0."""
    free_a = tuple([i for i in range(a.ndim) if i not in over_a])
    free_b = tuple([i for i in range(b.ndim) if i not in over_b])
    kept_a, kept_b = [a.shape[i] for i in free_a], [b.shape[i] for i in free_b]
    n = prod([a.shape[i] for i in over_a])
    left = reshape(transpose(a, (*free_a, *over_a)), (prod(kept_a), n))
    right = reshape(transpose(b, (*over_b, *free_b)), (n, prod(kept_b)))
    return reshape(MatMul.call(left, right), (*kept_a, *kept_b))


def _pair(axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, int):
        if axes < 0:
            raise _refused("axes >= 0, a number of axes", str(axes))
        return tuple(range(-axes, 0)), tuple(range(axes))
    first, second = ((one,) if isinstance(one, int) else one for one in axes)
    return first, second


def _check(axes: tuple[int, ...], x: Variable, name: str) -> None:
    for axis in axes:
        if not -x.ndim <= axis < x.ndim:
            raise _refused(f"{-x.ndim} <= axis of {name} < {x.ndim}", str(axis))
    if len({axis % x.ndim for axis in axes}) != len(axes):
        raise ValueError(f"tensordot: expected axes of {name} that differ, got {axes}")


def _refused(expect: str, actual: str) -> InvalidType:
    return InvalidType(expect, actual, operation="tensordot")
