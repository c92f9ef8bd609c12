"""CUDA graphs: what a call has asked of a GPU, to be launched again as a whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from backends.cuda_backend.recording import recording

POOLS: WeakKeyDictionary[Callable[[], None], Any] = WeakKeyDictionary()
"""The memory that each graph needs, while what launches it is alive."""


class Graphs:
    """Records CUDA graphs on the current device.

    Each has memory of its own, for the addresses within a graph are those of its recording: a pool
    that lives as long as the graph. Kernels have to be compiled before, and libraries to have what
    they take for a stream: so a call is made once in the stream that is recorded afterwards.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy

    def record(self, call: Callable[[], None]) -> Callable[[], None]:
        """The launch of what `call()` asks for, in the stream that is current then.

        What nvmath-python does beside its launches is not ours to know: where it may be what
        cannot be recorded, biases are added to products of cuBLAS's.
        """
        try:
            return self._recorded(call, True)
        except Exception:
            return self._recorded(call, False)

    def _recorded(self, call: Callable[[], None], epilogues: bool) -> Callable[[], None]:
        cuda = self._cupy.cuda
        pool, stream = cuda.MemoryPool(), cuda.Stream(non_blocking=True)
        stream.wait_event(cuda.get_current_stream().record())
        with cuda.using_allocator(pool.malloc), stream, recording(stream, epilogues) as made:
            call()
            stream.synchronize()
            stream.begin_capture()
            try:
                call()
            except BaseException:
                with suppress(Exception):  # of a capture that the fault has ended
                    stream.end_capture()
                raise
            graph = stream.end_capture()

        def launch(made: Any = made) -> None:  # which lives as long
            graph.launch(cuda.get_current_stream())

        POOLS[launch] = pool
        return launch

    def address(self, array: Any) -> Any:
        """Where the elements lie, and how."""
        return array.data.ptr, array.strides
