"""From the source of a kernel to a call of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.cuda_backend.kernels.source import OPTIONS, Source
from core.registry.once import publishing

Launch = Callable[[tuple[int, int], tuple[int, int], tuple[Any, ...]], None]


class Kernels:
    """What CuPy has compiled: for each source a function of a grid, a block and arguments.

    It is compiled at its first call on each GPU; CuPy keeps the machine code on disk as well.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._known: dict[Source, Launch] = {}

    def ready(self, source: Source) -> Launch:
        """What launches a kernel, in the current stream of the current device."""
        found = self._known.get(source)
        if found is None:
            made = self._cupy.RawKernel(str(source), source.name, options=OPTIONS)
            with publishing:
                found = self._known.setdefault(source, made)
        return found
