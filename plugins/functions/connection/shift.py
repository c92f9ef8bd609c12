"""Channels moved by one step each: a spatial convolution without weights (arXiv:1711.08141)."""

from __future__ import annotations

from itertools import product
from typing import Any

from core import Domain, FunctionNode, Variable, choice, real
from core.arrays.windows import per_axis
from core.errors.removed import removed
from core.typing import Array, Sizes


class Shift(FunctionNode):
    """Groups of channels of x, each moved as one weight of a kernel would; `back` moves them back.

    Channels that do not divide among the places of the kernel stay where they are.
    """

    ksize: Sizes = 3
    dilate: Sizes = 1
    back: bool = False

    domain = Domain(
        "(n,c,h,w)->(n,c,h,w)",
        x=real(-3, 3),
        settings={
            "ksize": choice(3, 1, (1, 3), (3, 1)),
            "dilate": choice(1, 2, (2, 1)),
            "back": choice(False, True),
        },
        dims={"c": (9, 11)},
        valid="c >= prod(ksize)",
    )

    def prepare(self) -> None:
        self.ksize = per_axis(self.ksize, 2, "shift: ksize")
        self.dilate = per_axis(self.dilate, 2, "shift: dilate")
        if any([k < 1 or k % 2 == 0 for k in self.ksize]):
            raise ValueError(f"shift: expected a ksize of odd numbers, got {self.ksize}")

    def compute(self, xp, x):
        y = xp.zeros_like(x)
        for channels, (dy, dx) in self.moves(x.shape[1]):
            to_rows, from_rows = _overlap(x.shape[2], dy)
            to_columns, from_columns = _overlap(x.shape[3], dx)
            part = x[:, channels, from_rows, from_columns]
            y = self.backend.put(y, (slice(None), channels, to_rows, to_columns), part)
        return y

    def gradient(self, xp, g):
        return Shift(self.ksize, self.dilate, not self.back).evaluate(g)

    def moves(self: Any, channels: int) -> list[tuple[slice, tuple[int, int]]]:
        """Slices of the channels, and from how far below and to the right each takes its values.

        The places of the kernel come row by row from the last to the first, but the last group,
        which has what is left over as well, has the centre, and the centre's group the first.
        """
        sign = -1 if self.back else 1
        (kh, kw), (dh, dw) = self.ksize, self.dilate
        rows, columns = range(kh // 2, -(kh // 2) - 1, -1), range(kw // 2, -(kw // 2) - 1, -1)
        places = [(sign * y * dh, sign * x * dw) for y, x in product(rows, columns)]
        middle = len(places) // 2
        places[middle], places[-1] = places[-1], places[middle]
        size = channels // len(places)
        starts = [i * size for i in range(len(places))]
        slices = map(slice, starts, [*starts[1:], channels])
        return list(zip(slices, places, strict=True))


def _overlap(size: int, step: int) -> tuple[slice, slice]:
    """Where along an axis values go to, and where they come from, `step` further on."""
    step = min(max(step, -size), size)
    to, start = max(-step, 0), max(step, 0)
    return slice(to, size - start), slice(start, size - to)


@removed()
def shift(x: Array, ksize: Sizes = 3, dilate: Sizes = 1) -> Variable:
    """Move each channel of images by one place of a kernel, in place of a spatial convolution.

    Channels are assigned in equal groups to the kh kw places of a kernel, what is left over to its
    centre. A group of the place (i, j), counted from the centre, holds
    y[n, c, h, w] = x[n, c, h + i dilate, w + j dilate], zero beyond the border.

    Args:
        x: Images, (n, c, h, w), floating, c at least kh kw.
        ksize: Size of the kernel, odd; a number or a pair.
        dilate: Distance of the kernel's places; a number or a pair.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` has other axes or too few channels.
        ValueError: `ksize` is not odd.

    Source: Wu et al. 2017, "Shift: a zero FLOP, zero parameter alternative to spatial convolutions"
    (arXiv:1711.08141), section 3.1.

    >>> import core.functions as F, numpy as np
    >>> x = np.arange(6, dtype="f").reshape(1, 3, 1, 2)
    >>> F.shift(x, ksize=(1, 3)).array.tolist()
    [[[[1.0, 0.0]], [[0.0, 2.0]], [[4.0, 5.0]]]]
    """
    return Shift.call(x, ksize, dilate)
