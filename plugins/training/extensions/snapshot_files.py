"""The snapshots in a directory: which there are, which is the newest, which may be removed."""

from __future__ import annotations

import re
import string
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.lib import format as npy

from core.errors import CheckpointDamaged, place
from plugins.serializers.entries import RUN, WRITTEN

_ASIDE = ".damaged"
_COUNTS = ("iteration", "epoch")


def found(directory: Path, filename: str) -> list[Path]:
    """The files in `directory` whose names the format string `filename` gives, the oldest first."""
    pattern = _pattern(Path(filename).name)
    named = (path for path in directory.iterdir() if pattern.fullmatch(path.name))
    files = (path for path in named if not path.name.endswith(_ASIDE) and path.is_file())
    return sorted(files, key=_age)


def run_of(path: Path) -> str | None:
    """The run that wrote a snapshot; None where the file does not say so."""
    run = _entry(path, RUN)
    return None if run is None else str(run)


def _entry(path: Path, name: str) -> Any:
    """A single value in a file; None where it is not there."""
    with suppress(Exception):  # whatever the file is, it is not this one's task to tell
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as entry:
                return npy.read_array(entry, allow_pickle=False).item()
        if "h5py" in sys.modules:  # as it is in a run that writes such files
            with sys.modules["h5py"].File(path) as file:
                value = file[name][()]
                return value.decode() if isinstance(value, bytes) else value
    return None


def remove_old(newest: Path, filename: str, keep: int, is_own: Callable[[Path], bool]) -> None:
    """Keep the newest ones; the one just written is among them, those of other runs are not."""
    others = [
        path for path in found(newest.parent, filename) if path.name != newest.name and is_own(path)
    ]
    for path in others[: max(0, len(others) + 1 - keep)]:
        path.unlink(missing_ok=True)


def put_aside(path: Path, error: CheckpointDamaged) -> None:
    """Rename a snapshot that is damaged, and say so."""
    aside = path.with_name(path.name + _ASIDE)
    path.replace(aside)
    place.warn(
        f"snapshot: {path} is damaged and was put aside as {aside.name}; resuming from the one "
        f"before it. {error}",
    )


def _pattern(filename: str) -> re.Pattern[str]:
    """What the names that a format string gives look like."""
    parts = string.Formatter().parse(filename)
    return re.compile("".join(re.escape(text) + _gap(field) for text, field, *_ in parts))


def _gap(field: str | None) -> str:
    """What stands for a field. Counts are digits: `snapshot_iter_4.bak` is the user's own file."""
    if field is None:
        return ""
    return r"[\d,_ ]*\d" if field.rpartition(".")[2] in _COUNTS else ".+"


def _age(path: Path) -> tuple[float, list[int]]:
    """Sorts snapshots by the time they were written, those of one moment by their numbers.

    The file tells the time where it can: copies have other dates, in any order. Not by number
    first: an earlier, longer run may have left its snapshots in the directory.
    """
    written = _entry(path, WRITTEN)
    if not isinstance(written, float):
        written = 0.0
        with suppress(FileNotFoundError):  # another run has moved it meanwhile
            written = path.stat().st_mtime
    return written, [int(n) for n in re.findall(r"\d+", path.name)]
