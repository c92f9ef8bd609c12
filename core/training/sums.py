"""Sums of arrays over the ranks, under way."""

from __future__ import annotations

from typing import Any

from core.arrays import backend

NARROW = ("float16", "bfloat16")


class Pending:
    """A sum under way; this one has come to its end already.

    Args:
        result: This rank's part of the sum, where it gets no more than that.
    """

    def __init__(self, result: Any = None) -> None:
        self.result = result

    def test(self) -> bool:
        """Let it go on; whether it has come to its end."""
        return True

    def wait(self) -> None:
        """Return when it has come to its end."""


def as_sixteen_bits(array: Any) -> bool:
    """Whether these are floats of 16 bits, which are added in float32."""
    return backend.of(array).dtype_name(array.dtype) in NARROW


class PartOfSum(Pending):
    """A sum under way everywhere, of which this rank wants a part."""

    def __init__(self, whole: Pending, buffer: Any, begin: int, end: int) -> None:
        super().__init__()
        self._whole, self._buffer, self._own = whole, buffer, slice(begin, end)

    def test(self) -> bool:
        """Let the whole sum go on; whether it has come to its end."""
        return self._whole.test()

    def wait(self) -> None:
        """Take this rank's part when the whole sum has come to its end."""
        if self.result is None:
            self._whole.wait()
            self.result = backend.of(self._buffer).copy(self._buffer[self._own])
            self._buffer = None
