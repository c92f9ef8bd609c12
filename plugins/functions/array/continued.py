"""An array continued beyond its ends by its own elements: what they repeat, mirror or begin anew.

A border is made of runs, parts of the array as they are, backwards, or one element over and over:
one of each side but where a border is wider than the array.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from core import Domain, FunctionNode, anything, choice

Widths = tuple[tuple[int, int], ...]


class Continued(FunctionNode):
    """x with borders whose elements are taken from where `SOURCES[mode]` says."""

    label = "Pad"
    pad_width: Widths
    mode: str
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={
            "pad_width": choice(lambda shapes: _some_widths(len(shapes["x"]))),
            "mode": choice("edge", "reflect", "symmetric", "wrap"),
        },
        valid="x.ndim == len(pad_width)",
        empty=False,
    )

    def compute(self, xp, x):
        for axis, (before, after) in enumerate(self.pad_width):
            if before == after == 0:
                continue
            n = x.shape[axis]
            sides = range(-before, 0), range(n, n + after)
            low, high = ([r.taken(xp, x, axis) for r in _runs(s, n, self.mode)] for s in sides)
            x = xp.concat([*low, x, *high], axis=axis) if low or high else x
        return x

    def gradient(self, xp, g):
        return AddedBorders(self.pad_width, self.mode, self.input_shape(0)).evaluate(g)


class AddedBorders(FunctionNode):
    """What lies inside borders, with each element of these added to its source: the adjoint."""

    pad_width: Widths
    mode: str
    shape: tuple[int, ...]
    wide = True

    def compute(self, xp, x):
        for axis, (before, after) in reversed([*enumerate(self.pad_width)]):
            n, whole = self.shape[axis], (slice(None),) * axis
            inside = x[(*whole, slice(before, before + n), ...)]
            inside = self.backend.copy(inside) if before or after else inside
            start = 0
            for side in (range(-before, 0), range(n, n + after)):
                for run in _runs(side, n, self.mode):
                    part = x[(*whole, slice(start, start + run.length), ...)]
                    inside = self.backend.put_sum(inside, run.place(axis), run.back(xp, part, axis))
                    start += run.length
                start += n
            x = inside
        return x

    def gradient(self, xp, g):
        return Continued(self.pad_width, self.mode).evaluate(g)


class _Run(NamedTuple):
    """Places of a border, one after the other, and what part of the axis they are taken from."""

    lowest: int
    step: int  # 1, -1, or 0 for one element over and over
    length: int

    def place(self, axis: int) -> Any:
        part = slice(self.lowest, self.lowest + (self.length if self.step else 1))
        return (*(slice(None),) * axis, part, ...)

    def taken(self, xp: Any, x: Any, axis: int) -> Any:
        part = x[self.place(axis)]
        if self.step:
            return part if self.step > 0 else xp.flip(part, axis=axis)
        return xp.broadcast_to(part, (*x.shape[:axis], self.length, *x.shape[axis + 1 :]))

    def back(self, xp: Any, part: Any, axis: int) -> Any:
        if self.step:
            return part if self.step > 0 else xp.flip(part, axis=axis)
        return xp.sum(part, axis=axis, keepdims=True, dtype=part.dtype)


@lru_cache(1024)  # found once: for a few elements that takes longer than to copy them
def _runs(side: range, n: int, mode: str) -> list[_Run]:
    """The runs of a border, whose places lie outside of 0 to n-1."""
    runs: list[list[int]] = []
    for place in [SOURCES[mode](i, n) for i in side]:
        last = runs[-1] if runs else []
        step = place - last[-1] if last else 2
        if abs(step) < 2 and (len(last) == 1 or step == last[1] - last[0]):
            last.append(place)
        else:
            runs.append([place])
    return [_Run(min(run), run[1] - run[0] if run[1:] else 1, len(run)) for run in runs]


def _mirrored(i: int, n: int, period: int) -> int:
    i %= max(period, 1)
    return i if i < n else period - i


SOURCES: dict[str, Callable[[int, int], int]] = {
    "edge": lambda i, n: min(max(i, 0), n - 1),
    "reflect": lambda i, n: _mirrored(i, n, 2 * n - 2),
    "symmetric": lambda i, n: i % (2 * n) if i % (2 * n) < n else 2 * n - 1 - i % (2 * n),
    "wrap": lambda i, n: i % n,
}
"""Mode -> where the element at place i, in or outside of 0 to n-1, is taken from."""


def _some_widths(ndim: int) -> list[Widths]:
    pairs = (1, 0), (0, 2), (2, 1), (5, 4)
    return [tuple([pairs[(i + k) % 4] for k in range(ndim)]) for i in range(4)]
