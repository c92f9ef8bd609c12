"""Arrays split along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

from core import FunctionNode, Variable, anything, as_variable, axes, choice
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import AnyArray, Array
from plugins.functions.array.concat import Concat
from plugins.functions.array.remembered import RememberingDomain
from plugins.functions.array.stack import Stack


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
    if (places := f._places(size)) != sorted(places):
        raise InvalidType("indices that do not fall", f"{cuts}")


class SplitAxis(FunctionNode):
    """x split along an axis, into equal sections or at indices; gradients are joined again.

    In the general form, because the number of outputs depends on the setting.
    """

    domain = RememberingDomain(
        "(...)->(...b)",
        x=anything(),
        settings={
            "indices_or_sections": choice(1, 2, 3, (1,), (1, 2), (0, 1, 1)),
            "axis": axes("x"),
        },
        valid=_fits,
    )

    @checked
    def __init__(self, indices_or_sections: int | Sequence[int], axis: int) -> None:
        self.indices_or_sections = indices_or_sections
        self.axis = axis

    def forward(self, inputs: tuple[AnyArray, ...]) -> tuple[AnyArray, ...]:
        (x,) = inputs
        axis = self.axis % x.ndim
        before = (slice(None),) * axis
        places = self._places(x.shape[axis])
        pairs = zip(places[:-1], places[1:], strict=True)
        return tuple([x[(*before, slice(start, stop), ...)] for start, stop in pairs])

    def _places(self, size: int) -> list[int]:
        cuts = self.indices_or_sections
        if isinstance(cuts, int):
            return list(range(0, size + 1, size // cuts)) if size else [0] * (cuts + 1)
        return [0, *[c + size if c < 0 else c for c in cuts], size]

    def backward(
        self, indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        shape, axis = self.input_shape(0), self.axis
        places = self._places(shape[axis])
        known = next(g for g in grad_outputs if g is not None)
        parts = []
        for start, stop, g in zip(places[:-1], places[1:], grad_outputs, strict=True):
            if g is None:
                part = list(shape)
                part[axis] = max(stop - start, 0)
                g = zeros_on_device_of(known, tuple(part))
            parts.append(g)
        return (Concat.call(*parts, axis=axis),)


class Separate(FunctionNode):
    """x taken apart along an axis, which its parts lack; gradients are stacked again.

    In the general form, because the number of outputs is a size.
    """

    domain = RememberingDomain(
        "(...)->(...b)",
        x=anything(),
        settings={"axis": axes("x")},
        empty=False,
        valid="x.shape[axis] > 0",
    )

    @checked
    def __init__(self, axis: int) -> None:
        self.axis = axis

    def forward(self, inputs: tuple[AnyArray, ...]) -> tuple[AnyArray, ...]:
        (x,) = inputs
        before = (slice(None),) * (self.axis % x.ndim)
        return tuple([x[(*before, i, ...)] for i in range(x.shape[self.axis])])

    def backward(
        self, indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        known = next(g for g in grad_outputs if g is not None)
        parts: Sequence[Any] = grad_outputs
        if any([g is None for g in parts]):  # one array stands for all of them
            nothing = zeros_on_device_of(known, known.shape)
            parts = [nothing if g is None else g for g in parts]
        return (Stack.call(*parts, axis=self.axis),)


def zeros_on_device_of(like: Variable, shape: tuple[int, ...]) -> Variable:
    """Zeros of a shape, in the dtype and on the device of a Variable."""
    array = like.array
    return as_variable(like.xp.zeros(shape, dtype=array.dtype, device=array.device))


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
    parts = SplitAxis(indices_or_sections, axis).apply((x,))
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
    return Separate(axis).apply((x,))
