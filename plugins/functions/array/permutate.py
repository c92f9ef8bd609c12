"""Permutations of elements along an axis."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, anything, axes, choice, integers
from core.errors.removed import removed
from core.typing import Array
from plugins.functions.labels import refuse_outside


class Permutate(FunctionNode):
    """x in the order of the indices along an axis, or, inverted, back from that order."""

    axis: int = 0
    inv: bool = False
    domain = Domain(
        "(...),(k)->(...)",
        x=anything(),
        indices=integers(0, 100, make=lambda xp, values: xp.argsort(values)),
        settings={"axis": axes("x"), "inv": choice(False, True)},
        valid="x.shape[axis] == k",
    )

    def compute(self, xp, x, indices):
        size = x.shape[self.axis]
        refuse_outside("Permutate", self.backend, "indices", indices, size, "Give a permutation.")
        order = xp.argsort(indices) if self.inv else indices
        return xp.take(x, order, axis=self.axis)

    def gradient_x(self, xp, g, indices):
        return Permutate(self.axis, not self.inv).evaluate(g, indices)


@removed()
def permutate(x: Array, indices: Array, axis: int = 0, inv: bool = False) -> Variable:
    """Reorder the elements along an axis: element i of the result is element `indices[i]` of `x`.

    Args:
        x: Of any dtype, and any shape that has the axis.
        indices: Integers, (k,): each of 0 to k-1 once, with k the length of the axis.
        axis: The axis to reorder along.
        inv: Whether to undo this reordering instead: place `indices[i]` gets what stands at i.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: An index is not in [0, k); where devices run ahead, under `core.config.debug`.
        ValueError: Under `core.config.debug`: `indices` is not a permutation.

    >>> import core.functions as F, numpy as np
    >>> F.permutate(np.array([1, 2, 3], "f"), np.array([2, 0, 1]))
    variable([3., 1., 2.], dtype=float32)
    """
    _check_in_debug_mode(indices)
    return Permutate.call(x, indices, axis=axis, inv=inv)


def _check_in_debug_mode(indices: Any) -> None:
    from core import is_debug

    if is_debug():
        from core.arrays.backend import to_host

        found = to_host(indices)
        if sorted(found.ravel().tolist()) != list(range(found.size)):
            raise ValueError(
                f"permutate: expected each of 0 to {found.size - 1} once among the indices"
            )
