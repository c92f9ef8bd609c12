"""Axes in reverse order."""

from __future__ import annotations

from core import Domain, FunctionNode, Variable, anything, axes
from core.errors.kinds import checked
from core.typing import Array, Axis


class Flip(FunctionNode):
    """x with the order along some axes reversed."""

    axis: Axis = None
    domain = Domain(
        "(...)->(...)", x=anything(), settings={"axis": axes("x", many=True, none=True)}
    )

    def compute(self, xp, x):
        return xp.flip(x, axis=self.axis)

    def gradient(self, xp, g):
        return xp.flip(g, axis=self.axis)


class FlipLR(Flip):
    """x with the order along the second axis reversed."""

    axis = 1
    domain = Domain("(n,m,...)->(n,m,...)", x=anything())


class FlipUD(Flip):
    """x with the order along the first axis reversed."""

    axis = 0
    domain = Domain("(n,...)->(n,...)", x=anything())


@checked
def flip(x: Array, axis: int) -> Variable:
    """Reverse the order of elements along an axis.

    Args:
        x: Of any shape and dtype that has the axis.
        axis: The axis.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.flip(np.array([1, 2, 3], "f"), 0)
    variable([3., 2., 1.], dtype=float32)
    """
    return Flip.call(x, axis)


def fliplr(a: Array) -> Variable:
    """Reverse the order along the second axis: swap left and right.

    Args:
        a: Of any dtype, with at least two axes.

    Returns:
        The shape and dtype of `a`.

    Raises:
        InvalidType: `a` has fewer axes.

    >>> import core.functions as F, numpy as np
    >>> F.fliplr(np.array([[1, 2]], "f"))
    variable([[2., 1.]], dtype=float32)
    """
    return FlipLR.call(a)


def flipud(a: Array) -> Variable:
    """Reverse the order along the first axis: swap up and down.

    Args:
        a: Of any dtype, with at least one axis.

    Returns:
        The shape and dtype of `a`.

    Raises:
        InvalidType: `a` has no axis.

    >>> import core.functions as F, numpy as np
    >>> F.flipud(np.array([[1], [2]], "f"))
    variable([[2.],
              [1.]], dtype=float32)
    """
    return FlipUD.call(a)
