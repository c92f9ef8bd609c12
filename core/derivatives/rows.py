"""All rows of a Jacobian at once: one walk, mapped over the unit vectors of all elements.

The function is called again for it, in a trace, so that each operation of the walk is made for
many rows. Where that is not to be had, as of a function that looks at values, draws random numbers,
or gives something else when it is called again, there are no such rows, and each takes a walk of
its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from math import prod
from typing import Any

from core import functions
from core.arrays.backend import current, host
from core.derivatives.mapping import mapping
from core.errors import TraceError
from core.graph.history import history_of
from core.graph.variable import Variable, wrap
from core.programs import draws
from core.registry.configuration import current_state, no_backprop_mode, using_config
from core.tracing import Places, TracedArray
from core.tracing import tape as tapes

LEAST = 40
"""Fewer rows are made faster by a walk for each than by a trace."""

MOST_BYTES = 1 << 26
"""What the results of operations may take, in rows that are computed at once."""


class Still(Places):
    """The places of a function that is called again: what is outside of it are constants.

    Parameters keep their arrays, for other threads may use the model.
    """

    def take(self, link: Any) -> None:
        """Let links have the attributes that they have now when all is over."""
        for _, each in link.namedlinks():
            if id(each) not in self._known:
                self._note(each)
                own = vars(each)
                self._undo.append(partial(_put_back, own, dict(own)))

    def take_parameter(self, parameter: Any) -> None:
        """Nothing: it stays as it is."""

    def take_optimizer(self, optimizer: Any) -> None:
        """Nothing: no step is made."""

    def lifted(self, x: Any) -> Any:
        """An input of an operation, a constant if it comes from outside."""
        if not isinstance(x, Variable) or isinstance(x._array, TracedArray):
            return super().lifted(x)
        return super().lifted(wrap(x.array))

    def outside(self, array: Any) -> Any:
        """The value of an array from outside, read where it is, unless it may be an index."""
        if array.dtype.kind != "f":
            return None
        return self._traced("outside", array, lambda: array)._value


def _put_back(own: dict[str, Any], before: dict[str, Any]) -> None:
    for name in own.keys() - before.keys():
        del own[name]
    own.update(before)


Rows = list[Variable | None]
Blocks = list[list[Variable]]
Walk = Callable[[list[Variable], list[Variable]], tuple[Rows, list[Variable]]]


def at_once(
    walk: Walk,
    xs: list[Variable],
    along: list[Variable],
    ys: list[Variable],
    chunk_size: int | None,
    nested: bool,
) -> Rows | None:
    """What a walk gives from each unit vector in the space of `along`, in rows; None if it cannot.

    `walk(inputs, vectors)` calls the function and gives its rows, None for zeros, and what `ys` are
    in this call. `nested` says that the rows are to have their graph.
    """
    count = sum([x.size for x in along])
    if len({x.dtype for x in (*xs, *ys)}) > 1:  # derivatives have that of the input
        return None
    size = chunk_size or max(1, MOST_BYTES // max(1, _bytes(ys)))
    if min(count, size) < LEAST or not _can_be_traced(nested):
        return None

    def of_row(inputs: list[Variable], vectors: list[Variable]) -> Any:
        rows, again = walk(inputs, vectors)
        if any(map(draws, tapes.current().equations)):
            raise TraceError("jacobian: each row would have random numbers of its own.")
        return rows, [y.array for y in again]

    alone = not (nested or tapes.under_way())
    mapped = mapping(of_row, (None, 0), (0, None), Still if alone else None)
    parts = []
    try:
        with nullcontext() if nested else no_backprop_mode(), using_config("in_recomputing", True):
            for first in range(0, count, size):
                units = _units(along, first, min(count, first + size))
                rows, again = mapped(xs, units)
                if not all(map(_is_near, again, ys)):
                    return None
                parts.append(rows)
    except Exception:  # the walk of one row tells who has made a mistake
        return None
    return [_joined(rows) for rows in zip(*parts, strict=True)]


def _can_be_traced(nested: bool) -> bool:
    """Whether arrays are the host's, or traced, and nobody looks at each operation.

    Where derivatives are taken around these, parameters hold traced arrays in the meantime, which
    other threads would meet.
    """
    if tapes.under_way():
        return True
    if nested and threading.active_count() > 1:
        return False
    return current() is host() and not current_state().slow_path


def _bytes(ys: Sequence[Variable]) -> int:
    """The bytes of the results of all operations between inputs and outputs."""
    nodes = [r() for f in history_of([y.creator_node for y in ys]) for r in f.outputs]
    specs = [node.spec for node in nodes if node is not None]
    return sum([prod(spec.shape) * spec.dtype.itemsize for spec in specs if spec is not None])


def _units(along: list[Variable], first: int, end: int) -> list[Any]:
    """The unit vectors `first` to `end` of the space of all these Variables together."""
    xp, units, at = host().xp, [], 0
    rows = xp.reshape(xp.arange(first, end), (-1, 1))
    for x in along:
        ones = rows == xp.reshape(xp.arange(at, at + x.size), (1, -1))
        units.append(xp.reshape(ones.astype(x.dtype), (end - first, *x.shape)))
        at += x.size
    return units


def _is_near(again: Any, y: Variable) -> bool:
    """Whether a second call has given what the first one gave, up to rounding."""
    if isinstance(y.array, TracedArray):  # of which nothing is known
        return True
    xp, first = host().xp, y.array
    if bool(xp.all(again == first)):
        return True
    with xp.errstate(all="ignore"):
        near = xp.finfo(first.dtype).eps ** 0.5 * xp.max(xp.abs(first))
        return bool(xp.all((xp.abs(again - first) <= near) | (again == first)))


def _joined(parts: Sequence[Variable | None]) -> Variable | None:
    present = [rows for rows in parts if rows is not None]
    if len(present) < 2:
        return present[0] if present else None
    return functions.concat(present, axis=0)


def of_rows(found: Rows | None, ys: list[Variable], xs: list[Variable]) -> Blocks | None:
    """The blocks of a Jacobian, from its rows for all elements of the outputs."""
    if found is None:
        return None
    blocks, at = [], 0
    for y in ys:
        end = at + y.size
        own = [None if rows is None else rows[at:end] for rows in found]
        blocks.append([_block(part, y, x) for part, x in zip(own, xs, strict=True)])
        at = end
    return blocks


def of_columns(found: Rows | None, ys: list[Variable], xs: list[Variable]) -> Blocks | None:
    """The blocks of a Jacobian, from its columns for all elements of the inputs."""
    if found is None:
        return None
    blocks = []
    for y, columns in zip(ys, found, strict=True):
        own, at = [], 0
        for x in xs:
            end = at + x.size
            part = None if columns is None else functions.moveaxis(columns[at:end], 0, -1)
            own.append(_block(part, y, x))
            at = end
        blocks.append(own)
    return blocks


def _block(part: Variable | None, y: Variable, x: Variable) -> Variable:
    shape = (*y.shape, *x.shape)
    if part is None:
        return wrap(x.xp.zeros(shape, dtype=x.dtype))
    return functions.reshape(part, shape)
