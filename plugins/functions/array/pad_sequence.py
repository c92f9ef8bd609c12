"""Sequences of different lengths as one array."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core import Domain, FunctionNode, Variable, anything, choice, number
from core.errors import InvalidType
from core.errors.removed import removed
from core.errors.scalars import holds
from core.typing import Array
from plugins.functions.array.concat import several
from plugins.functions.refusal import refused


def _not_longer(f: Any, *xs: Any) -> None:
    for i, x in enumerate(xs):
        if f.length is not None and x.shape[0] > f.length:
            raise InvalidType(f"xs[{i}].shape[0] <= {f.length}", f"{x.shape[0]} > {f.length}")


class PadSequence(FunctionNode):
    """Sequences padded to one length and stacked; each gets its part of the gradient."""

    length: int | None = None
    padding: float = 0
    domain = Domain(
        "(...)*->(...b)",
        xs=anything(),
        settings={"length": choice(None, 4, 6), "padding": number(-2, 2)},
        dims={"...": (1, 3)},
        differ=0,
        valid=_not_longer,
    )

    def compute(self, xp, *xs):
        dtype, length = self.backend.dtype_name(xs[0].dtype), self.length
        if not holds(dtype, self.padding):
            raise refused(self.label, f"a padding that {dtype} can hold", f"{self.padding!r}")
        if length is None:
            length = max([x.shape[0] for x in xs])
        rows = []
        for x in xs:
            shape = (length - x.shape[0], *x.shape[1:])
            rest = xp.full(shape, self.padding, dtype=x.dtype, device=x.device)
            rows.append(xp.concat([x, rest], axis=0))
        return xp.stack(rows, axis=0)

    def gradient(self, xp, g, needs_grad):
        return tuple(
            [
                g[(i, slice(self.input_shape(i)[0]), ...)] if needed else None
                for i, needed in enumerate(needs_grad)
            ]
        )


@removed()
def pad_sequence(xs: Iterable[Array], length: int | None = None, padding: float = 0) -> Variable:
    """Pad sequences to one length, and stack them.

    Args:
        xs: An iterable of at least one array or Variable (length_i, ...), of one dtype, and alike
            but for the lengths.
        length: The length of the result; None is that of the longest.
        padding: What the rest is filled with.

    Returns:
        (number of sequences, length, ...), and the dtype of `xs`.

    Raises:
        InvalidType: Shapes or dtypes do not fit, a sequence is longer than `length`, or their dtype
            cannot hold the padding.
        TypeError: `xs` is empty.

    >>> import core.functions as F, numpy as np
    >>> F.pad_sequence([np.array([1, 2], "f"), np.array([3], "f")], padding=-1)
    variable([[ 1.,  2.],
              [ 3., -1.]], dtype=float32)
    """
    return PadSequence.call(*several("pad_sequence", xs), length=length, padding=padding)
