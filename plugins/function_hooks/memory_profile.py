"""How much GPU memory functions take."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple, TextIO

from core import FunctionNode
from core.arrays import backend
from plugins.function_hooks.measure import Measuring, in_unit, kind_of, print_table

BYTES = (("GB", 2.0**30), ("MB", 2.0**20), ("KB", 2.0**10), ("B", 1.0))


class Bytes(NamedTuple):
    """`used`: handed out by the memory pool; `acquired`: by the device to the pool."""

    used: int
    acquired: int


class CupyMemoryProfileHook(Measuring):
    """Measure the GPU memory that every forward and backward asks CuPy's memory pool for.

    Raises `BackendUnavailable`, with the reason, where there is no GPU to be used. In
    `call_history` are pairs of a function and `Bytes`.
    """

    name = "CupyMemoryProfileHook"

    def __init__(self) -> None:
        super().__init__()
        cupy = import_module(backend.get("cuda").library)
        self._counter = _counting(cupy.cuda.MemoryHook)

    def added(self, function: FunctionNode | None = None) -> None:
        """Start to listen to the memory pool."""
        self._counter.__enter__()

    def deleted(self, function: FunctionNode | None = None) -> None:
        """Stop listening."""
        super().deleted(function)
        self._counter.__exit__(None, None, None)

    def _read(self, arrays: tuple[Any, ...]) -> Bytes:
        return Bytes(self._counter.used, self._counter.acquired)

    def _difference(self, before: Bytes, after: Bytes) -> Bytes:
        return Bytes(after.used - before.used, after.acquired - before.acquired)

    def total_used_bytes(self) -> int:
        """Bytes that all functions together asked the pool for."""
        return sum(taken.used for _, taken in self.call_history)

    def total_acquired_bytes(self) -> int:
        """Bytes that the pool in turn asked the device for."""
        return sum(taken.acquired for _, taken in self.call_history)

    def summary(self) -> dict[str, dict[str, int]]:
        """For each class `used_bytes`, `acquired_bytes` and `occurrence`, the number of calls."""
        found: dict[str, dict[str, int]] = {}
        for function, taken in self.call_history:
            nothing = {"used_bytes": 0, "acquired_bytes": 0, "occurrence": 0}
            entry = found.setdefault(kind_of(function), nothing)
            entry["used_bytes"] += taken.used
            entry["acquired_bytes"] += taken.acquired
            entry["occurrence"] += 1
        return found

    def print_report(self, file: TextIO | None = None, unit: str = "auto") -> None:
        """Print the summary as a table, the largest use first; `unit` is GB, MB, KB, B or auto."""
        entries = sorted(self.summary().items(), key=lambda item: -item[1]["used_bytes"])
        rows = [
            (
                label,
                in_unit(entry["used_bytes"], BYTES, unit),
                in_unit(entry["acquired_bytes"], BYTES, unit),
                str(entry["occurrence"]),
            )
            for label, entry in entries
        ]
        print_table(("FunctionName", "UsedBytes", "AcquiredBytes", "Occurrence"), rows, file)


def _counting(base: Any) -> Any:
    """A memory hook, made of the library's own base, that adds up what is asked for."""

    class Counter(base):  # type: ignore[misc]
        name = CupyMemoryProfileHook.name
        used = 0
        acquired = 0

        def malloc_postprocess(self, mem_size: int = 0, **_: Any) -> None:
            self.used += mem_size

        def alloc_postprocess(self, mem_size: int = 0, **_: Any) -> None:
            self.acquired += mem_size

    return Counter()
