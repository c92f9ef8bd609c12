"""Models as tables: links, their outputs, and the memory of their parameters."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from core.arrays.backend import of as backend_of
from core.arrays.backend import random_state, set_random_state
from core.graph.fitting import is_array
from core.graph.variable import Variable
from core.link import Link
from core.link.hook import ForwardArgs, LinkHook
from core.link.tree import heading, printable
from core.registry.configuration import no_backprop_mode, using_config

_HEAD = ("path", "link", "output", "parameters", "bytes")
_FIGURES = 2  # the last columns, aligned to the right
_SHOWN = 3  # outputs of one link


class Row(NamedTuple):
    """One link. `parameters` and `bytes` are of what no row below shows; see `LinkSummary`."""

    path: str
    link: str
    output: str
    parameters: int
    bytes: int
    unsized: int


class LinkSummary:
    """The result of `core.summary`: `str` of it is a table, and notebooks show one.

    `rows` are the links, parents before children. `parameters`, `frozen` and `unsized` count
    elements of all parameters, of those that are frozen, and parameters without a size. `bytes` is
    the size of all parameters, `persistent_bytes` that of running statistics and the like.
    """

    def __init__(self, link: Link, outputs: dict[str, list[Any]], depth: int | None = None) -> None:
        self.rows = list(_rows(link, outputs, depth))
        params = list(link.params())
        sized = [param for param in params if param.is_initialized]
        self.parameters = sum(param.size for param in sized)
        self.frozen = sum(param.size for param in sized if param.frozen)
        self.unsized = len(params) - len(sized)
        self.bytes = sum(_bytes(param.array) for param in sized)
        self.persistent_bytes = sum(map(_bytes, _persistent_arrays(link)))

    def __str__(self) -> str:
        cells = [_HEAD, *map(_cells, self.rows)]
        if not any(row.output for row in self.rows):
            cells = [line[:2] + line[3:] for line in cells]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(_aligned(line, widths)).rstrip() for line in cells]
        rule = "─" * max(map(len, lines))
        return printable("\n".join([lines[0], rule, *lines[1:], rule, self._totals()]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from core.link.html import table

        return table(self._totals(), [_HEAD, *map(_cells, self.rows)], "th")

    def _totals(self) -> str:
        parts = [f"{self.parameters:,} parameter" + "s" * (self.parameters != 1)]
        if self.frozen:
            parts[0] += f" ({self.frozen:,} frozen)"
        if self.unsized:
            parts[0] += f" + {self.unsized} unsized"
        parts.append(readable(self.bytes))
        if self.persistent_bytes:
            parts.append(f"persistent values {readable(self.persistent_bytes)}")
        return ", ".join(parts)


def summary(link: Link, *inputs: Any, depth: int | None = None) -> LinkSummary:
    """Make a table of the links in `link`: paths, classes, outputs, parameters and bytes.

    Args:
        link: The model.
        inputs: What to call it with, to learn the shapes of outputs and the sizes not known yet;
            a copy of the link is called, in test mode, so nothing changes. None: no call.
        depth: How many levels of links to show; None for all.

    Returns:
        A `LinkSummary`. The parameters of a row are those that no row below shows, so a column adds
        up to the total; a parameter that is shared counts where it comes first.

    >>> import core, numpy as np
    >>> import core.functions as F, core.links as L
    >>> model = core.Sequential(L.Linear(None, 8), F.relu, L.Linear(8, 2))
    >>> core.summary(model, np.zeros((1, 3), "f"))
    path  link                           output          parameters  bytes
    ──────────────────────────────────────────────────────────────────────
    /     Sequential                     (1, 2) float32
    /0    Linear(in_size=3, out_size=8)  (1, 8) float32          32  128 B
    /1    Linear(in_size=8, out_size=2)  (1, 2) float32          18   72 B
    ──────────────────────────────────────────────────────────────────────
    50 parameters, 200 B
    """
    if not isinstance(link, Link):
        raise TypeError(f"summary: expected a link, got {type(link).__name__}.")
    if depth is not None and depth < 0:
        raise ValueError(f"summary: expected a depth of 0 or more, got {depth}.")
    if not inputs:
        return LinkSummary(link, {}, depth)
    clone = copy.deepcopy(link)
    recorder = _Recorder(clone)
    state = random_state()
    try:
        with using_config("train", False), no_backprop_mode(), recorder:
            clone(*inputs)
    finally:
        set_random_state(state)
    return LinkSummary(clone, recorder.outputs, depth)


class _Recorder(LinkHook):
    """Notes what the links of a model give, by path, one entry for each call."""

    name = "core.summary"

    def __init__(self, link: Link) -> None:
        self.outputs: dict[str, list[Any]] = {}
        self._paths = {id(each): path for path, each in link.namedlinks()}

    def forward_postprocess(self, args: ForwardArgs) -> None:
        path = self._paths.get(id(args.link))
        if path is not None:
            self.outputs.setdefault(path, []).append(args.out)


def _rows(link: Link, outputs: dict[str, list[Any]], depth: int | None) -> Iterator[Row]:
    seen: set[int] = set()
    for path, each in link.namedlinks():
        level = 0 if path == "/" else path.count("/")
        if depth is not None and level > depth:
            continue
        inner = each.links() if level == depth else [each]
        own = [param for part in inner for _, param in part._own_params()]
        new = {id(param): param for param in own if id(param) not in seen}
        seen |= new.keys()
        sized = [param for param in new.values() if param.is_initialized]
        yield Row(
            path,
            heading(each),
            _spelled(outputs.get(path, [])),
            sum(param.size for param in sized),
            sum(_bytes(param.array) for param in sized),
            len(new) - len(sized),
        )


def _cells(row: Row) -> tuple[str, ...]:
    if not row.parameters and not row.unsized:
        return row.path, row.link, row.output, "", ""
    count = f"{row.parameters:,}" + (" + ?" if row.unsized else "")
    return row.path, row.link, row.output, count, readable(row.bytes)


def _aligned(cells: tuple[str, ...], widths: list[int]) -> Iterator[str]:
    for i, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        yield cell.ljust(width) if i < len(cells) - _FIGURES else cell.rjust(width)


def _spelled(calls: list[Any]) -> str:
    """The arrays that a link gave in its last call, and how often it was called."""
    if not calls:
        return ""
    found = list(_arrays(calls[-1]))
    shown = [f"{tuple(a.shape)} {backend_of(a).dtype_name(a.dtype)}" for a in found[:_SHOWN]]
    more = [f"… {len(found)} in all"] if len(found) > _SHOWN else []
    return ", ".join([*shown, *more]) + (f" ×{len(calls)}" if len(calls) > 1 else "")


def _arrays(value: Any) -> Iterator[Any]:
    """The arrays and Variables in nested tuples, lists and dicts."""
    if isinstance(value, Variable) or is_array(value):
        yield value
    elif isinstance(value, (tuple, list)):
        for element in value:
            yield from _arrays(element)
    elif isinstance(value, dict):
        yield from _arrays(list(value.values()))


def _persistent_arrays(link: Link) -> Iterator[Any]:
    for each in link.links():
        yield from (
            each.__dict__[name] for name in each._persistent if is_array(each.__dict__[name])
        )


def _bytes(array: Any) -> int:
    """What the elements take; the standard's dtypes do not say it, their names do."""
    bits = re.search(r"\d+", backend_of(array).dtype_name(array.dtype))
    return int(prod(array.shape)) * (int(bits[0]) // 8 if bits else 1)


def readable(size: int) -> str:
    """A number of bytes in a suitable unit.

    >>> readable(3_250_000)
    '3.25 MB'
    """
    value, units = float(size), ["B", "kB", "MB", "GB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{size} B" if units[0] == "B" else f"{value:.2f} {units[0]}"
