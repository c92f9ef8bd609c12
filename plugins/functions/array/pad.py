"""Padding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, choice, real
from core.errors import nearest
from core.errors.kinds import checked, kind_of, taking
from core.errors.scalars import python_number
from core.typing import Array
from plugins.functions.array.broadcast import broadcast_to
from plugins.functions.array.concat import Concat
from plugins.functions.array.continued import SOURCES, Continued
from plugins.functions.composed import Composed

Pairs = tuple[tuple[float, float], ...]
PadWidths = int | Sequence[int | Sequence[int]]


class Pad(Composed):
    """x with a border, for given settings; see `pad`."""

    def __init__(self, pad_width: Any, mode: str, **keywords: Any) -> None:
        self.pad_width = pad_width
        self.mode = mode
        self.keywords = keywords

    def apply(self, inputs: Iterable[Any]) -> tuple[Variable, ...]:
        """The input with its border."""
        (x,) = inputs
        return (pad(x, self.pad_width, self.mode, **self.keywords),)


class ConstantPad(FunctionNode):
    """x with constants before and after each axis; the gradient is cut back."""

    label = "Pad"
    pad_width: tuple[tuple[int, int], ...]
    constant_values: Pairs
    domain = Domain(
        "(...)->(...b)",
        x=real(-3, 3),
        settings={
            "pad_width": choice(lambda shapes: _for_each(shapes["x"], (1, 0), (0, 2), (2, 1))),
            "constant_values": choice(lambda shapes: _for_each(shapes["x"], (0, 0), (1, -2))),
        },
        valid="x.ndim == len(pad_width)",
    )

    def compute(self, xp, x):
        for axis, pair in enumerate(zip(self.pad_width, self.constant_values, strict=True)):
            (before, after), (low, high) = pair
            if before == after == 0:
                continue
            shapes = [(*x.shape[:axis], n, *x.shape[axis + 1 :]) for n in (before, after)]
            first, last = (
                xp.full(shape, value, dtype=x.dtype, device=x.device)
                for shape, value in zip(shapes, (low, high), strict=True)
            )
            x = xp.concat([first, x, last], axis=axis)
        return x

    def gradient(self, xp, g):
        pairs = zip(self.pad_width, g.shape, strict=True)
        return g[tuple([slice(before, n - after) for (before, after), n in pairs])]


def _for_each(shape: tuple[int, ...], *pairs: tuple[int, int]) -> list[Pairs]:
    """For each pair, a setting that begins with it and goes on with the others in turn."""
    turns = [pairs[i:] + pairs[:i] for i in range(len(pairs))]
    return [tuple([turn[i % len(turn)] for i in range(len(shape))]) for turn in turns]


@checked
def pad(x: Array, pad_width: PadWidths, mode: str, **keywords: Any) -> Variable:
    """Pad an array: put a border around it.

    Args:
        x: Floating, of any shape.
        pad_width: How wide before and after each axis: a pair for each axis, a pair for all, or an
            int.
        mode: 'constant'; or where the border comes from: 'edge' repeats the last element,
            'reflect' mirrors at it, 'symmetric' mirrors behind it, 'wrap' starts at the other end;
            'maximum', 'minimum' and 'mean' repeat that of each line; 'linear_ramp' goes evenly from
            the last element to an end value.
        **keywords: Numbers given as `pad_width` is: for 'constant' `constant_values` and for
            'linear_ramp' `end_values`, 0 by default; for 'maximum', 'minimum' and 'mean'
            `stat_length`, how many elements at the edge they are of, by default all.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or has another number of axes.
        ValueError: The mode is unknown, or a width is negative.

    >>> import core.functions as F, numpy as np
    >>> F.pad(np.array([1, 2], "f"), (1, 2), "constant", constant_values=9)
    variable([9., 1., 2., 9., 9.], dtype=float32)
    >>> F.pad(np.array([1, 2, 3], "f"), 2, "reflect")
    variable([3., 2., 1., 2., 3., 2., 1.], dtype=float32)
    """
    x = as_variable(x)
    widths = _pairs("pad_width", pad_width, x.ndim)
    if any([before < 0 or after < 0 for before, after in widths]):
        raise ValueError(f"pad: expected widths of at least 0, got {pad_width}")
    known = ["constant", *SOURCES, *_BORDERS]
    if mode not in known:
        raise ValueError(
            f"pad: expected a mode among {', '.join(known)}, got {mode!r}.{nearest(mode, known)}"
        )
    whole = tuple([(int(before), int(after)) for before, after in widths])
    keyword, given = _KEYWORDS.get(mode, ("", 0))
    if keyword in keywords:
        given = taking(_GIVEN[keyword], "pad", keyword)(keywords.pop(keyword))
    values = _pairs(keyword, given, x.ndim)
    if keywords:
        raise TypeError(f"pad: mode {mode!r} takes no argument {next(iter(keywords))!r}")
    if mode == "constant":
        return ConstantPad.call(x, whole, values)
    if mode in SOURCES:
        return _from_itself(x, whole, mode)
    for axis in range(x.ndim):
        x = _with_borders(x, axis, whole[axis], mode, values[axis])
    return x


def _pairs(name: str, given: Any, ndim: int) -> Pairs:
    """A pair for each axis, from one for each, one for all, or a number."""
    if type(given) is tuple and len(given) == ndim and all([_is_pair(row) for row in given]):
        return given
    given = python_number(given)
    if not hasattr(given, "__len__") or not hasattr(given, "__getitem__"):
        return ((given, given),) * ndim
    rows = [tuple(r) if hasattr(r, "__len__") else r for r in map(python_number, given)]
    if rows and all([not isinstance(row, tuple) for row in rows]):
        rows = [tuple(rows) if len(rows) == 2 else (rows[0], rows[0])]
    rows = [row * 2 if len(row) == 1 else row for row in rows]
    if len(rows) == 1:
        rows *= ndim
    if len(rows) != ndim or any([len(row) != 2 for row in rows]):
        raise ValueError(
            f"pad: expected {name} to be {ndim} pairs, a pair or a number; got {given}"
        )
    return tuple(rows)


def _is_pair(row: Any) -> bool:
    return type(row) is tuple and len(row) == 2 and type(row[0]) is type(row[1]) is int


def _from_itself(x: Variable, widths: tuple[tuple[int, int], ...], mode: str) -> Variable:
    for axis, (n, width) in enumerate(zip(x.shape, widths, strict=True)):
        if n == 0 and any(width):
            raise ValueError(f"pad: axis {axis} has no element that mode {mode!r} could repeat")
    return Continued.call(x, widths, mode)


def _with_borders(x: Variable, axis: int, widths: Any, mode: str, values: Any) -> Variable:
    """The array between what `_BORDERS` makes of either end of an axis."""
    parts, whole = [x], (slice(None),) * axis
    for side, (width, value) in enumerate(zip(widths, values, strict=True)):
        n = x.shape[axis]
        length = n if value is None or mode == "linear_ramp" else min(value, n)
        end = x[(*whole, slice(n - length, n) if side else slice(length))]
        border = _BORDERS[mode](end, axis, width, value, side)
        shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
        parts.insert(side * 2, broadcast_to(border, shape))
    return Concat.call(*parts, axis=axis)


def _ramp(x: Variable, axis: int, width: int, value: float, side: int) -> Variable:
    """From the outermost element of x evenly to `value`, which is the last one of the border."""
    n = x.shape[axis]
    edge = x[(*(slice(None),) * axis, slice(n - 1, n) if side else slice(1))]
    steps = [i / width for i in range(width)]
    share = x.backend.asarray(steps[::-1] if side else steps, x.dtype, x.device)
    share = share.reshape((width, *(1,) * (x.ndim - axis - 1)))
    return edge * share + (1.0 - share) * value


_BORDERS = {
    "maximum": lambda x, axis, width, value, side: x.max(axis=axis, keepdims=True),
    "minimum": lambda x, axis, width, value, side: x.min(axis=axis, keepdims=True),
    "mean": lambda x, axis, width, value, side: x.mean(axis=axis, keepdims=True),
    "linear_ramp": _ramp,
}
"""Mode -> what stands at an end of an axis, from the elements at that end."""

_KEYWORDS = {
    "constant": ("constant_values", 0),
    "linear_ramp": ("end_values", 0),
    **dict.fromkeys(("maximum", "minimum", "mean"), ("stat_length", None)),
}
"""Mode -> the argument that goes with it, and its default."""

_NUMBERS = kind_of("float | list[float | list[float]]")
_GIVEN = {
    "constant_values": _NUMBERS,
    "end_values": _NUMBERS,
    "stat_length": kind_of("int | list[int | list[int]] | None"),
}
"""Argument -> what it may be."""
