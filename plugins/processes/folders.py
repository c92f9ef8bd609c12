"""Folders by which processes hand each other messages, and that nothing is left of.

Who makes one holds a lock of it until it is removed. Where all processes of a job are killed at
once, as by a batch system, a container or a launcher of MPI, nobody is left to remove what they
share: whoever makes folders next finds that nobody holds these any more, and removes them. Those of
other machines, whose locks are not seen on all file systems that they share, are left alone.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # as on Windows, where killed processes leave their folders
    fcntl = None  # type: ignore[assignment]

_SHARED_MEMORY = "/dev/shm"
_MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"
_FORM = re.compile(rf"plugrad-\d+-{_MACHINE}-\w{{8}}")

_held: dict[Path, int] = {}  # folders of this process, with the handles that have the locks


def private_folders() -> list[Path]:
    """New folders for messages: one in shared memory where that is a folder, and one elsewhere."""
    usable = os.path.isdir(_SHARED_MEMORY) and os.access(_SHARED_MEMORY, os.W_OK)
    places = [Path(tempfile.gettempdir())]
    if usable:
        places.insert(0, Path(_SHARED_MEMORY))
    if fcntl is not None:
        for place in places:
            _remove_forsaken(place)
    return [_made(place) for place in places]


def remove(folders: Sequence[Path]) -> None:
    """Remove folders, in the process that has made them or in one that it has shared them with."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        handle = _held.pop(folder, None)
        if handle is not None:
            os.close(handle)


def _made(place: Path) -> Path:
    """A new folder whose lock this process holds, where there are locks."""
    while True:
        prefix = f"plugrad-{os.getpid()}-{_MACHINE}-"
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        if fcntl is not None:
            try:
                _held[folder] = _locked(folder)
            except BlockingIOError:  # somebody takes it for forsaken, and is about to remove it
                continue
            except OSError:  # where files have no locks, none is found to be forsaken
                pass
        if folder.exists():
            return folder
        remove([folder])  # somebody took it for forsaken before it was locked


def _remove_forsaken(place: Path) -> None:
    """Remove the folders of this user whose makers have gone."""
    for folder in place.glob("plugrad-*"):
        with suppress(OSError):  # its lock is held, or it has gone by now
            if _FORM.fullmatch(folder.name) and folder.lstat().st_uid == os.getuid():
                handle = _locked(folder)
                shutil.rmtree(folder, ignore_errors=True)
                os.close(handle)


def _locked(folder: Path) -> int:
    """A handle that has the lock of a folder. Raises OSError where another one has it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle
