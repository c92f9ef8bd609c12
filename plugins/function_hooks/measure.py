"""What hooks that measure functions have in common: a reading before, one after, and a table."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from core import Device, FunctionHook, FunctionNode
from core.arrays import backend
from core.typing import AnyArray


class Measuring(FunctionHook, ABC):
    """Take a reading before and after each forward and backward, and keep the differences.

    `call_history` has a pair (function, difference) for each: a function of the same settings that
    is in no graph, so that no array is kept. A function that another one calls inside counts for
    both.
    """

    def __init__(self) -> None:
        self.call_history: list[tuple[FunctionNode, Any]] = []
        self._running: list[tuple[FunctionNode, Any]] = []

    def deleted(self, function: FunctionNode | None = None) -> None:
        """Forget the functions that were interrupted by an exception."""
        self._running.clear()

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[AnyArray, ...]) -> None:
        """Take a reading."""
        self._running.append((function, self._read(in_data)))

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[AnyArray, ...]) -> None:
        """Take a reading, and keep the difference to the one before."""
        after = self._read(in_data)
        while self._running:  # what lies above was interrupted by an exception
            begun, before = self._running.pop()
            if begun is function:
                difference = self._difference(before, after)
                self.call_history.append((_without_arrays(function), difference))
                return

    def backward_preprocess(
        self, function: FunctionNode, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...]
    ) -> None:
        """Take a reading."""
        self.forward_preprocess(function, (*in_data, *out_grad))

    def backward_postprocess(
        self, function: FunctionNode, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...]
    ) -> None:
        """Take a reading, and keep the difference to the one before."""
        self.forward_postprocess(function, (*in_data, *out_grad))

    @abstractmethod
    def _read(self, arrays: tuple[Any, ...]) -> Any: ...

    def _difference(self, before: Any, after: Any) -> Any:
        return after - before


def kind_of(function: Any) -> str:
    """The class of a function, that of an old-style one where that is what it stands for."""
    return type(getattr(function, "function", function)).__name__


def _without_arrays(function: FunctionNode) -> FunctionNode:
    made = function.again()
    for name in made.saved:
        vars(made).pop(name, None)
    return made


def place_of(arrays: Iterable[Any]) -> Device | None:
    """The device of the first array there is, which is that of all."""
    array = next((array for array in arrays if array is not None), None)
    return None if array is None else backend.of(array).device_of(array)


def wait_for(device: Device | None) -> None:
    """Wait until a device has done all that was asked of it."""
    if device is not None:
        device.backend.synchronize(device)


def in_unit(value: float, units: Sequence[tuple[str, float]], unit: str = "auto") -> str:
    """`value` in one of `units` (name, size; the largest first), or in the one that suits it.

    >>> in_unit(0.0025, [("sec", 1.0), ("ms", 1e-3), ("us", 1e-6)])
    '2.50ms'
    """
    sizes = dict(units)
    if unit in ("auto", "auto_foreach"):  # the latter is Chainer's name of what both are here
        unit = next((name for name, size in units if value >= size), units[-1][0])
    if unit not in sizes:
        raise ValueError(f"print_report: expected a unit of auto, {', '.join(sizes)}; got {unit!r}")
    return f"{value / sizes[unit]:.2f}{unit}"


def print_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], file: TextIO | None, names: int = 1
) -> None:
    """Print a table: the first `names` columns to the left, figures to the right."""
    rows = [head, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:names], widths, strict=False)]
        figures = zip(row[names:], widths[names:], strict=True)
        print("  ".join([*cells, *(cell.rjust(w) for cell, w in figures)]), file=file or sys.stdout)
