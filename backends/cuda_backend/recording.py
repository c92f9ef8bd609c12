"""What is asked of the GPU while a CUDA graph is made of it, in the thread that makes it.

The call that is recorded is made once before, under the same `Recording`: what is compiled, planned
or allocated at first use is there when the stream records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import local
from typing import Any


class Recording:
    """What a graph needs beside the memory of its pool, and has to live as long.

    Args:
        stream: The stream that is recorded.
        epilogues: Whether nvmath-python may compute products with their bias.
    """

    def __init__(self, stream: Any, epilogues: bool = True) -> None:
        self.stream = stream
        self.epilogues = epilogues
        self._kept: dict[Any, Any] = {}

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is called `key` in this recording, made when it is first asked for."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


class _Here(local):
    """What this thread records; None as a rule."""

    recording: Recording | None = None


HERE = _Here()


@contextmanager
def recording(stream: Any, epilogues: bool = True) -> Iterator[Recording]:
    """A context in which this thread makes a graph of what a stream is asked."""
    before, HERE.recording = HERE.recording, Recording(stream, epilogues)
    try:
        yield HERE.recording
    finally:
        HERE.recording = before


class Unrecorded:
    """Functions of a library whose plans a graph could outlive: they are refused while one is made.

    A launch would go on using the memory of a plan that the library has let go of meanwhile.
    """

    def __init__(self, module: Any, name: str) -> None:
        self._module = module
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{self._name} of the CUDA backend has no {name!r}")
        found = getattr(self._module, name)
        if not callable(found) or isinstance(found, type):
            return found

        @wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            if HERE.recording is not None:
                raise NotImplementedError(
                    f"{self._name}.{name} is not recorded: a graph could outlive its plan"
                )
            return found(*args, **kwargs)

        setattr(self, name, call)
        return call
