"""A file that an extension replaces repeatedly."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from core.errors import place
from plugins.serializers.atomic import replacing, sync
from plugins.training.extensions.snapshot_files import found

_writers: WeakValueDictionary[Path, ReportFile] = WeakValueDictionary()  # under way, by their files

PART = 20
"""Writing one file often takes one part of so many of the time."""


class ReportFile:
    """Replace whole files, and do not end a training because one cannot be written.

    A failure is a warning, and leaves the file as it was; the next attempt writes everything
    anyway. Only what still cannot be written at the end is an error. `who` writes, and is warned
    where another does to the same file.
    Files wait for the disk at the end alone: each time would take longer than small steps do.
    """

    def __init__(self, who: str) -> None:
        self._who = who
        self._left: dict[Path, Callable[[Path], Any]] = {}
        self._unsynced: set[Path] = set()
        self._told_of_another = False
        self._waits: tuple[Path, Callable[[Path], Any]] | None = None
        self._until: tuple[Path | None, float] = (None, 0.0)  # for which file, and how long

    def write(
        self, path: str | os.PathLike[str], write: Callable[[Path], Any], often: bool = False
    ) -> None:
        """Let `write(temporary)` make the new file; it must not change what it writes later.

        What is to be written `often` may wait for what comes after it, or for the end: the longer,
        the longer it takes.
        """
        path = Path(path)
        if self._waits is not None and self._waits[0] != path:
            self._try(*self._waits)
        self._waits = None
        same, until = self._until
        if often and same == path and time.monotonic() < until:
            self._waits = path, write
            return
        began = time.monotonic()
        self._try(path, write)
        ended = time.monotonic()
        self._until = path, ended + PART * (ended - began)

    def _try(self, path: Path, write: Callable[[Path], Any]) -> None:
        try:
            self._replace(path, write)
        except OSError as error:
            told = path in self._left
            self._left[path] = write
            if not told:
                place.warn(
                    f"{self._who}: could not write {path}: {error.strerror or error}. Training "
                    "goes on, and it is tried again with what is new by then.",
                )

    def _replace(self, path: Path, write: Callable[[Path], Any]) -> None:
        other = _writers.get(path.absolute())
        _writers[path.absolute()] = self
        if other is not None and other is not self and not self._told_of_another:
            self._told_of_another = other._told_of_another = True
            place.warn(
                f"{self._who}: {path} is the file of another extension as well ({other._who}), "
                "and each replaces what the other writes. Give one of them another filename."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, synced=False) as temporary:
            write(temporary)
        self._left.pop(path, None)
        self._unsynced.add(path)

    @staticmethod
    def standing(out: str | os.PathLike[str], filename: str | None) -> Iterator[tuple[Path, None]]:
        """The files of such a name, which may have fields, that are in the directory already."""
        if filename is None:
            return
        path = Path(out) / filename
        if path.parent.is_dir():
            for each in found(path.parent, path.name) if "{" in path.name else [path]:
                if each.is_file():
                    yield each, None

    def finish(self) -> None:
        """Write what could not be written; raises OSError if that is still so."""
        try:
            self._write_rest()
        finally:
            for path in [path for path, writer in _writers.items() if writer is self]:
                del _writers[path]
        while self._unsynced:
            with suppress(FileNotFoundError):  # somebody has taken it away
                sync(self._unsynced.pop())

    def _write_rest(self) -> None:
        if self._waits is not None:
            path, write = self._waits
            self._left[path], self._waits = write, None
        for path, write in list(self._left.items()):
            try:
                self._replace(path, write)
            except OSError as error:
                error.add_note(f"{self._who}: {path} lacks what was to be written since then.")
                raise
