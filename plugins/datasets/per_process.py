"""Files that a dataset keeps open, in whatever process and thread it is read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class _Slot(NamedTuple):
    process: int
    lock: threading.Lock
    file: Any


class PerProcess:
    """What `open()` gives, opened by each process for itself when it is first used.

    A process that was forked, and a copy that was pickled, open it anew: a file that two processes
    share has one place where it is read, which both would move. `open` must be picklable.
    """

    def __init__(self, open: Callable[[], Any]) -> None:
        self._open = open
        self._slot: _Slot | None = None

    @contextmanager
    def use(self) -> Iterator[Any]:
        """The open file, for one thread at a time."""
        slot = self._slot
        if slot is None or slot.process != os.getpid():
            slot = self._opened()
        with slot.lock:
            yield slot.file

    def _opened(self) -> _Slot:
        with _opening[-1]:
            slot = self._slot
            if slot is None or slot.process != os.getpid():
                slot = self._slot = _Slot(os.getpid(), threading.Lock(), self._open())
            return slot

    def close(self) -> None:
        """Close the file; it is opened anew when it is used again."""
        slot, self._slot = self._slot, None
        if slot is not None:
            slot.file.close()

    def __del__(self) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"_open": self._open, "_slot": None}


_opening = [threading.Lock()]

if hasattr(os, "register_at_fork"):  # a thread that is not in the child may have held the lock
    os.register_at_fork(after_in_child=lambda: _opening.append(threading.Lock()))
