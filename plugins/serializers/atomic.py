"""Files that are either the old or the new ones, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from plugins.serializers.open_files import check_open

_TEMPORARY = re.compile(r"\..+\.(?P<machine>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{8}\.tmp")
_MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"
_FORGOTTEN = 24 * 3600.0  # seconds after which nobody writes to a file of another machine any more
_BEGINNING = 40  # letters of a name in that of its temporary: names have 255 bytes at most
_being_written: set[str] = set()  # names of temporaries, by all threads of this process


@contextmanager
def replacing(path: str | os.PathLike[str], synced: bool = True) -> Iterator[Path]:
    """Yield the path of a temporary file that takes the place of `path` when the block ends well.

    The temporary lies in the same directory; it and the directory are synced with the disk: a
    process killed or a machine stopped at any moment leaves the old file or the new one, complete.
    When the block raises, the temporary is removed and `path` stays as it was. A file that is
    replaced hands on its permissions; one that this user may not write to is refused.
    What is written often, and can be made anew, need not be `synced`, which takes milliseconds: it
    may then be lost where the machine stops, not where the process is killed.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "answer"
    >>> with replacing(path) as temporary:
    ...     _ = temporary.write_text("42")
    >>> path.read_text()
    '42'
    """
    target = Path(os.path.realpath(path))
    _check_target(target)
    begun = target.name[:_BEGINNING]
    unique = f"{_MACHINE}-{os.getpid()}-{secrets.token_hex(4)}"
    temporary = target.with_name(f".{begun}.{unique}.tmp")
    _being_written.add(temporary.name)
    try:
        yield temporary
        with suppress(FileNotFoundError):  # a new file has the usual ones
            shutil.copymode(target, temporary)
        if synced:
            sync(temporary)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _CURES:
            raise _explained(error, target) from error
        raise
    finally:
        _being_written.discard(temporary.name)
    if synced:
        sync(target.parent)


def write_all(who: str, file: Any, data: bytes) -> None:
    """Write to an open file, which takes a part alone where it has no buffer and the disk is full.

    Raises TypeError, in the name of `who`, for what is no file of bytes.
    """
    check_open(who, file, "writing")
    while data:
        taken = file.write(data)
        data = data[len(data) if taken is None else taken :]  # some say nothing, and take all


_SPACE = "Free some space, or choose another directory"
_RIGHTS = "Choose a file and a directory that this user may write to"
_CURES = {
    errno.ENOSPC: _SPACE,
    errno.EFBIG: "Raise the limit on the size of files (ulimit -f), or choose another directory",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
    **({errno.EDQUOT: _SPACE} if hasattr(errno, "EDQUOT") else {}),
}


def _explained(error: OSError, target: Path) -> OSError:
    """The same error, of the file that was asked for rather than the temporary one."""
    stands = "the existing file is kept" if target.exists() else "nothing was written"
    number = error.errno or 0
    return OSError(number, f"{os.strerror(number)}; {stands}. {_CURES[number]}", str(target))


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "The directory of this file does not exist; make it first", str(target)
        )
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "Expected the path of a regular file", str(target))
    if target.exists() and not os.access(target, os.W_OK):  # which a rename does not ask
        raise _explained(PermissionError(errno.EACCES, ""), target)


def sync(path: Path) -> None:
    """Wait until the disk has what a file or a directory holds."""
    if os.name == "nt" and path.is_dir():
        return  # Windows has no handle on a directory; its renames are journalled
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_stale_temporaries(directory: str | os.PathLike[str]) -> list[Path]:
    """Remove what killed processes left in `directory`, and return it.

    Temporaries of processes that still run, and of this one's threads, are left alone; those of
    other machines and containers, whose processes cannot be seen, for a day.
    """
    stale = []
    for path in Path(directory).iterdir():
        match = _TEMPORARY.fullmatch(path.name)
        if match and path.name not in _being_written and _is_left(path, match):
            path.unlink(missing_ok=True)
            stale.append(path)
    return stale


def _is_left(path: Path, match: re.Match[str]) -> bool:
    """Whether nobody writes to a temporary any more."""
    if match["machine"] == _MACHINE:
        return not _runs(int(match["process"]))
    try:
        return time.time() - path.stat().st_mtime > _FORGOTTEN
    except FileNotFoundError:  # it has taken its place
        return False


def _runs(process: int) -> bool:
    """Whether another process of that number runs; what ours writes is known by name."""
    if process == os.getpid() or os.name == "nt":  # on Windows, signal 0 would end the process
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
