"""Copies of host arrays to a GPU that overlap with what it computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from importlib import import_module
from typing import Any


class Uploader:
    """Host arrays to arrays on one GPU, through pinned memory, in a stream of its own.

    The memory of a batch is taken one call ahead. It comes from the arena of the computing stream,
    where whatever lay there may still be read; the copy waits for what that stream had been asked
    until then, and not for what it has been asked since, with which the copy overlaps.
    """

    def __init__(self, cupy: Any, device: Any, stream: Any, compute_stream: Any) -> None:
        self._cupy = cupy
        self._device = device
        self._compute_stream = compute_stream
        with device:
            self._stream = cupy.cuda.Stream(non_blocking=True) if stream is None else stream
        self._ahead: tuple[list[Any], Any] = [], None
        self._going: deque[tuple[Any, list[Any]]] = deque()  # pinned memory that is being read

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The arrays on the GPU: what is computed with them in the computing stream waits."""
        with self._device:
            compute = self._computing()
            while self._going and self._going[0][0].done:
                self._going.popleft()
            targets, free = self._ahead
            if not _alike(targets, arrays):
                targets, free = self._allocate(arrays, compute)
            self._stream.wait_event(free)
            self._copy(arrays, targets)
            compute.wait_event(self._going[-1][0])
            self._ahead = self._allocate(arrays, compute)
            return targets

    def _computing(self) -> Any:
        if self._compute_stream is None:
            return self._cupy.cuda.get_current_stream()
        return self._compute_stream

    def _allocate(self, arrays: Sequence[Any], compute: Any) -> tuple[list[Any], Any]:
        """Memory for arrays like these, and the event after which it can be written to."""
        with compute:
            made = [self._cupy.empty(array.shape, array.dtype) for array in arrays]
        return made, compute.record()

    def _copy(self, arrays: Sequence[Any], targets: Sequence[Any]) -> None:
        pinned = [_pinned(array) for array in arrays]
        for source, target in zip(pinned, targets, strict=True):
            target.set(source, stream=self._stream)
        self._going.append((self._stream.record(), pinned))


def _alike(targets: Sequence[Any], arrays: Sequence[Any]) -> bool:
    return [(t.shape, t.dtype) for t in targets] == [(a.shape, a.dtype) for a in arrays]


def _pinned(array: Any) -> Any:
    """A copy in memory that the GPU reads by itself."""
    copy = import_module("cupyx").empty_pinned(array.shape, array.dtype)
    copy[...] = array
    return copy
