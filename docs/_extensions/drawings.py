"""Small pictures as SVG, in the colours of the page's theme: curves, bars, windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import product

WIDTH, HEIGHT = 340, 190
LEFT, RIGHT, TOP, BOTTOM = 44, 330, 10, 164
CELL = 22

Line = tuple[str, Sequence[float], Sequence[float]]
"""What it is called, and where it goes."""


def _steps(low: float, high: float, count: int) -> list[float]:
    """Round numbers between two."""
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _text(value: float) -> str:
    return f"{value:g}".replace("-", "−")


class _Axes:
    """From numbers to places, with what is written at the axes."""

    def __init__(self, xs: tuple[float, float], ys: tuple[float, float]) -> None:
        room = (ys[1] - ys[0]) * 0.06 or 0.5
        self.xs, self.ys = xs, (ys[0] - room, ys[1] + room)

    def x(self, value: float) -> float:
        return LEFT + (value - self.xs[0]) / (self.xs[1] - self.xs[0]) * (RIGHT - LEFT)

    def y(self, value: float) -> float:
        return BOTTOM - (value - self.ys[0]) / (self.ys[1] - self.ys[0]) * (BOTTOM - TOP)

    def drawn(self) -> str:
        parts = []
        for value in _steps(*self.ys, 4):
            at = self.y(value)
            parts.append(f'<path class="grid" d="M{LEFT},{at:.1f}H{RIGHT}"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" class="end">{_text(value)}</text>')
        for value in _steps(*self.xs, 4):
            at = self.x(value)
            parts.append(f'<text x="{at:.1f}" y="{BOTTOM + 18}">{_text(value)}</text>')
        return "".join(parts)


def _whole(name: str, said: str, content: str, width: float = WIDTH, height: float = HEIGHT) -> str:
    return (
        f'<svg class="drawing {name}" role="img" aria-label="{escape(said)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width: {width:.0f}px">{content}</svg>'
    )


def curves(lines: Sequence[Line], said: str) -> str:
    """Lines over one axis, each in a colour and a dash of its own."""
    xs = [x for _, points, _ in lines for x in points]
    ys = [y for _, _, points in lines for y in points]
    axes = _Axes((min(xs), max(xs)), (min(ys), max(ys)))
    parts = [axes.drawn()]
    for number, (_, px, py) in enumerate(lines):
        points = " ".join(f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y in zip(px, py, strict=True))
        parts.append(f'<polyline class="line{number}" points="{points}"/>')
    return _whole("curves", said, "".join(parts))


def bars(low: float, high: float, counts: Sequence[float], said: str) -> str:
    """A histogram between two numbers."""
    axes = _Axes((low, high), (0, max(counts)))
    width = (high - low) / len(counts)
    parts = []
    for i, count in enumerate(counts):
        x, y = axes.x(low + i * width), axes.y(count)
        parts.append(
            f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" '
            f'width="{axes.x(low + width) - axes.x(low) - 1:.1f}" height="{axes.y(0) - y:.1f}"/>'
        )
    marks = [
        f'<text x="{axes.x(v):.1f}" y="{BOTTOM + 18}">{_text(v)}</text>'
        for v in _steps(low, high, 4)
    ]
    return _whole("bars", said, "".join(parts + marks))


Cells = Sequence[tuple[int, int]]


def _cell(kind: str, corner: tuple[float, float], at: tuple[int, int], inset: int = 0) -> str:
    """One element of a grid, by its row and column."""
    x, y, side = corner[0] + at[1] * CELL, corner[1] + at[0] * CELL, CELL - 2 * inset
    place = f'x="{x + inset:.0f}" y="{y + inset:.0f}" width="{side}" height="{side}"'
    return f'<rect class="{kind}" {place}/>'


def windows(sides: Sequence[tuple[str, tuple[int, int], int, Sequence[Cells]]], said: str) -> str:
    """Grids, each with its name, size, padding around, and the cells of the first two windows."""
    parts, left, tallest = [], 8.0, max(size[0] + 2 * pad for _, size, pad, _ in sides)
    for number, (name, (rows, columns), pad, marked) in enumerate(sides):
        height, width = rows + 2 * pad, columns + 2 * pad
        top = 8 + (tallest - height) / 2 * CELL
        if number:
            middle = 8 + tallest / 2 * CELL
            parts.append(f'<path class="arrow" d="M{left},{middle}h34m-8,-6l8,6l-8,6"/>')
            left += 50

        corner = left + pad * CELL, top + pad * CELL
        for i, j in product(range(-pad, rows + pad), range(-pad, columns + pad)):
            inner = 0 <= i < rows and 0 <= j < columns
            parts.append(_cell("cell" if inner else "around", corner, (i, j)))
        for mark, cells in enumerate(marked):
            parts += [_cell(f"mark{mark}", corner, at, 3 * mark) for at in cells]
        centre = left + width * CELL / 2
        parts.append(f'<text x="{centre:.0f}" y="{24 + tallest * CELL}">{escape(name)}</text>')
        left += width * CELL + 16
    return _whole("windows", said, "".join(parts), left - 8, 34 + tallest * CELL)
