"""Loops over elements of arrays that broadcast: over the columns of rows, and the rows of blocks.

NumPy begins anew for each row of an array that broadcasts, which takes as long as some hundred
elements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.products.panels import pieces
from backends.numpy_backend.kernels.compiler import (
    Array,
    Compiled,
    Read1,
    Write1,
    compiled_with,
)
from backends.numpy_backend.kernels.emitter import Emitter, Number, Variable, emitted
from core.typing import Shape

PART = 1 << 16  # elements of a part

# -- loops -----------------------------------------------------------------------------------------

_ALONG = (True, True), (True, False), (False, True)  # which inputs go on along a row

_rows: Any = None  # what a loop calls


def _of_two(
    x: Read1, y: Read1, z: Write1, columns: int, rows: int, along: int,
    x_block: int, x_row: int, y_block: int, y_row: int, start: int, stop: int,
) -> None:  # fmt: skip
    _rows(x, y, z, columns, rows, along, x_block, x_row, y_block, y_row, start, stop)


def _of_three(
    x: Read1, y: Read1, u: Read1, z: Write1, columns: int, rows: int, along: int,
    x_block: int, x_row: int, y_block: int, y_row: int, start: int, stop: int,
) -> None:  # fmt: skip
    _rows(x, y, u, z, columns, rows, along, x_block, x_row, y_block, y_row, start, stop)


def loop_of_two(name: str, compute: Callable[..., Any]) -> Compiled:
    """The loop of `compute(e, x, y)`, which is given an emitter and vectors."""

    def rows_of_two(e: Emitter, x: Any, y: Any, z: Any, columns: Any, rows: Any, along: Any,
                    x_block: Any, x_row: Any, y_block: Any, y_row: Any, start: Any, stop: Any,
                    ) -> None:  # fmt: skip
        steps = (x_block, x_row), (y_block, y_row)
        _written(e, compute, [[x], [y]], z, columns, rows, along, steps, start, stop)

    rows_of_two.__name__ = f"{name}_rows"
    return compiled_with(_of_two, f"{name}_of_two", _rows=emitted(rows_of_two))


def loop_of_three(name: str, compute: Callable[..., Any]) -> Compiled:
    """The loop of `compute(e, x, y, u)`, where y and u have one shape."""

    def rows_of_three(e: Emitter, x: Any, y: Any, u: Any, z: Any, columns: Any, rows: Any,
                      along: Any, x_block: Any, x_row: Any, y_block: Any, y_row: Any, start: Any,
                      stop: Any) -> None:  # fmt: skip
        steps = (x_block, x_row), (y_block, y_row)
        _written(e, compute, [[x], [y, u]], z, columns, rows, along, steps, start, stop)

    rows_of_three.__name__ = f"{name}_rows"
    return compiled_with(_of_three, f"{name}_of_three", _rows=emitted(rows_of_three))


def _written(
    e: Emitter, compute: Callable[..., Any], inputs: Any, z: Any, columns: Any, rows: Any,
    along: Any, steps: Any, start: Any, stop: Any,
) -> None:  # fmt: skip
    """Write the loop, of inputs of each of two shapes; `steps` go to the next block and row."""
    for number, go_on in enumerate(_ALONG):
        with e.when(along.equals(number)):
            first = start // columns
            block, row = first // rows, e.variable(first % rows)
            place, column = e.variable(start), e.variable(start % columns)
            at = [e.variable(block * b + row.get() * r) for b, r in steps]
            with e.repeat(partial(_before, place, stop)):
                to, begin = place.get(), column.get()
                count = (columns - begin).least(stop - to)
                given = [
                    _from(e, x, own.get(), begin, goes_on)
                    for arrays, own, goes_on in zip(inputs, at, go_on, strict=True)
                    for x in arrays
                ]
                for i, lanes in pieces(e, count):
                    e.store(compute(e, *[x(i, lanes) for x in given]), e.at(z, to + i))
                place.set(to + count)
                column.set(e.number(0))
                following = row.get() + 1
                last = following.equals(rows)
                row.set(e.choose(last, 0, following))
                for own, (b, r) in zip(at, steps, strict=True):
                    own.set(own.get() + e.choose(last, b - (rows - 1) * r, r))


def _from(
    e: Emitter, x: Any, row: Number, begin: Number, goes_on: bool
) -> Callable[[Number, int], Any]:
    """What gives the vector at a place of a row, or of its only element."""
    if goes_on:
        first = e.at(x, row + begin)
        return lambda i, lanes: e.load(e.at(first, i), lanes)
    element = e.read(e.at(x, row))
    return lambda i, lanes: e.broadcast(element, lanes)


def _before(place: Variable, stop: Number) -> Any:
    return place.get() < stop


# -- how inputs lie --------------------------------------------------------------------------------


class Arranged(NamedTuple):
    """Inputs of two shapes in nested loops over the columns of rows and the rows of blocks."""

    shape: Shape
    size: int
    numbers: tuple[int, ...]
    """Columns, rows, which inputs go on along a row, and steps from block to block and row to row.

    These are of the first input, then of the second.
    """


@lru_cache(1024)
def arranged(x: Shape, y: Shape) -> Arranged | None:
    """How inputs of two shapes lie; None if they would take more than three loops, or none.

    >>> arranged((32, 64, 7, 7), (64, 1, 1))
    Arranged(shape=(32, 64, 7, 7), size=100352, numbers=(49, 64, 1, 3136, 49, 0, 1))
    """
    shape = np.broadcast_shapes(x, y)
    axes: list[tuple[int, list[bool]]] = []  # from the last one on, with who has it
    own = [(1,) * (len(shape) - len(s)) + s for s in (x, y)]
    for n, *sizes in zip(shape[::-1], *[s[::-1] for s in own], strict=True):
        has = [size == n for size in sizes]
        if n > 1 and axes and axes[-1][1] == has:
            axes[-1] = axes[-1][0] * n, has
        elif n > 1:
            axes.append((n, has))
    if len(axes) > 3 or 0 in shape:
        return None
    axes += [(1, [True, True])] * (3 - len(axes))
    (columns, goes_on), (rows, has_rows), (blocks, has_blocks) = axes
    steps = []
    for i in range(2):
        row = columns if goes_on[i] else 1
        block = row * rows if has_rows[i] else row
        steps += [block * has_blocks[i], row * has_rows[i]]
    along = _ALONG.index((goes_on[0], goes_on[1]))
    return Arranged(shape, columns * rows * blocks, (columns, rows, along, *steps))


def computed(loop: Compiled, found: Arranged, *arrays: Array) -> Any:
    """What the loop makes of arrays; NotImplemented where one does not lie in one piece."""
    for a in arrays:
        if type(a) is not np.ndarray or not (a.flags.c_contiguous and a.flags.aligned):
            return NotImplemented
    z = np.empty(found.shape, arrays[0].dtype)
    given = *[a.reshape(-1) for a in (*arrays, z)], *found.numbers
    parallel.divide(loop, found.size, PART, *given)
    return z
