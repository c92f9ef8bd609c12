"""Sequences of different lengths as one array."""

from __future__ import annotations

from collections.abc import Sequence

from core import Domain, FunctionNode, Variable, anything, choice, number
from core.ops.types.type_check import expect
from core.typing import Array
from plugins.functions.array.concat import several
from plugins.functions.removed import removed


class PadSequence(FunctionNode):
    """Sequences padded to one length and stacked; each gets its part of the gradient."""

    length: int | None = None
    padding: float = 0
    axis: int = 0  # the only one; here so that the domain can say along what sequences differ
    domain = Domain(
        "(...)*->(...b)",
        xs=anything(),
        settings={"length": choice(None, 4, 6), "padding": number(-2, 2), "axis": choice(0)},
        dims={"...": (1, 3)},
        differ="axis",
    )

    def check_type_forward(self, in_types):
        for x in in_types:
            expect(x.ndim > 0, x.shape[1:] == in_types[0].shape[1:])
            if self.length is not None:
                expect(x.shape[0] <= self.length)

    def compute(self, xp, *xs):
        length = self.length
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
def pad_sequence(xs: Sequence[Array], length: int | None = None, padding: float = 0) -> Variable:
    """Pad sequences to one length, and stack them.

    Args:
        xs: A sequence of at least one array or Variable (length_i, ...), of one dtype, and alike
            but for the lengths.
        length: The length of the result; None is that of the longest.
        padding: What the rest is filled with.

    Returns:
        (number of sequences, length, ...), and the dtype of `xs`.

    Raises:
        InvalidType: Shapes or dtypes do not fit, or a sequence is longer than `length`.
        TypeError: `xs` is empty.

    >>> import core.functions as F, numpy as np
    >>> F.pad_sequence([np.array([1, 2], "f"), np.array([3], "f")], padding=-1)
    variable([[ 1.,  2.],
              [ 3., -1.]], dtype=float32)
    """
    return PadSequence.call(*several("pad_sequence", xs), length=length, padding=padding)
