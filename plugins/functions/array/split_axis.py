"""Arrays split along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, overload

from core import Domain, FunctionNode, Variable, anything, as_variable, axes, choice
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array


def _fits(f: Any, x: Any) -> None:
    cuts, size = f.indices_or_sections, x.shape[f.axis]
    if isinstance(cuts, int):
        if cuts < 1:
            raise InvalidType("at least 1 section", f"{cuts}")
        if size % cuts:
            raise InvalidType(f"x.shape[{f.axis}] % {cuts} == 0", f"{size % cuts} != 0")
        return
    farthest = max(map(abs, cuts), default=0)
    if farthest > size:
        raise InvalidType(f"x.shape[{f.axis}] >= {farthest}", f"{size} < {farthest}")
    if (places := _places(cuts, size)) != sorted(places):
        raise InvalidType("indices that do not fall", f"{cuts}")


class SplitAxis(FunctionNode):
    """x split along an axis, into equal sections or at indices; gradients are joined again."""

    indices_or_sections: int | tuple[int, ...]
    axis: int
    output_names = ("*parts",)
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={
            "indices_or_sections": choice(1, 2, 3, (1,), (1, 2), (0, 1, 1)),
            "axis": axes("x"),
        },
        valid=_fits,
    )

    def compute(self, xp, x):
        before = (slice(None),) * (self.axis % x.ndim)
        return tuple([x[(*before, cut, ...)] for cut in self._cuts(x.shape)])

    def gradient(self, xp, g):
        known = next(part for part in g if part is not None)
        parts, shape, axis = [], list(self.input_shape(0)), self.axis
        for part, cut in zip(g, self._cuts(self.input_shape(0)), strict=True):
            if part is None:
                shape[axis] = cut.stop - cut.start
                part = xp.zeros(tuple(shape), dtype=known.dtype, device=known.device)
            parts.append(part)
        return xp.concat(parts, axis=axis)

    def _cuts(self, shape: tuple[int, ...]) -> tuple[slice, ...]:
        return _cuts(self.indices_or_sections, shape[self.axis])


@lru_cache
def _cuts(where: int | tuple[int, ...], size: int) -> tuple[slice, ...]:
    return tuple([slice(start, stop) for start, stop in pairwise(_places(where, size))])


def _places(where: int | tuple[int, ...], size: int) -> list[int]:
    """Where parts of an axis begin, and its end."""
    if isinstance(where, int):
        return list(range(0, size + 1, size // where)) if size else [0] * (where + 1)
    return [0, *[place + size if place < 0 else place for place in where], size]


class Separate(FunctionNode):
    """x taken apart along an axis, which its parts lack; gradients are stacked again."""

    axis: int
    output_names = ("*parts",)
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"axis": axes("x")},
        empty=False,
        valid="x.shape[axis] > 0",
    )

    def compute(self, xp, x):
        before = (slice(None),) * (self.axis % x.ndim)
        return tuple([x[(*before, i, ...)] for i in range(x.shape[self.axis])])

    def gradient(self, xp, g):
        known = next(part for part in g if part is not None)
        if any([part is None for part in g]):  # one array stands for all of them
            nothing = xp.zeros(known.shape, dtype=known.dtype, device=known.device)
            g = [nothing if part is None else part for part in g]
        return xp.stack(g, axis=self.axis)


@overload
def split_axis(
    x: Array,
    indices_or_sections: int | Sequence[int],
    axis: int,
    force_tuple: Literal[True] = ...,
) -> tuple[Variable, ...]: ...
@overload
def split_axis(
    x: Array, indices_or_sections: int | Sequence[int], axis: int, force_tuple: bool
) -> Variable | tuple[Variable, ...]: ...
@checked
def split_axis(
    x: Array, indices_or_sections: int | Sequence[int], axis: int, force_tuple: bool = True
) -> Variable | tuple[Variable, ...]:
    """Split an array along an axis.

    Args:
        x: Of any shape and dtype that has the axis.
        indices_or_sections: How many equal sections, an int; or where to cut, a sequence of ints,
            which count from the end below 0.
        axis: The axis to cut along.
        force_tuple: Whether a single part comes as a tuple as well.

    Returns:
        A tuple of Variables.

    Raises:
        InvalidType: `x` has no such axis, or one that the number of sections does not divide, or
            one that ends before an index; or the indices fall.

    >>> import core.functions as F, numpy as np
    >>> F.split_axis(np.arange(3, dtype="f"), [1], axis=0)
    (variable([0.], dtype=float32), variable([1., 2.], dtype=float32))
    """
    parts = SplitAxis.call(x, indices_or_sections, axis)
    return parts if force_tuple or len(parts) > 1 else parts[0]


@checked
def separate(x: Array, axis: int = 0) -> tuple[Variable, ...]:
    """Split an array into its parts along an axis, each without that axis.

    Args:
        x: Of any shape and dtype that has the axis.
        axis: The axis to take apart.

    Returns:
        A tuple of Variables, as many as the axis is long.

    Raises:
        InvalidType: `x` has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.separate(np.array([[1, 2], [3, 4]], "f"))
    (variable([1., 2.], dtype=float32), variable([3., 4.], dtype=float32))
    """
    x = as_variable(x)
    if -x.ndim <= axis < x.ndim and x.shape[axis] == 0:
        return ()
    return Separate.call(x, axis)
