"""How processes hand each other objects: pickled, with the arrays in them as they lie in memory.

A message is the number of its parts, their lengths, and the parts: the pickle, then the content of
every array. A message of some size goes into a file, in shared memory where the system has it as a
folder. Other than named segments, files say when memory is full, instead of ending the process.

Memory that a process gets anew costs several times what copying into it does. So a file that has
been read is left for the next message, under a name that says so, and the memory of arrays that are
gone is used for others.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import struct
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

_ALIGNED = 64  # arrays begin at multiples of it, as allocators have it

_FREE = "free-"
_BROKEN_OFF = "a message from a worker process ends before its time"

# A pipe takes up to 4096 bytes whole or not at all. No longer message is sent through it, so that a
# process that dies leaves no half of one, which the reader would wait for the end of.
_INLINE = 2048


def encode(obj: Any, dumps: Callable[..., bytes] = pickle.dumps) -> list[Any]:
    """The message as pieces of bytes, one after the other; the arrays are not copied."""
    buffers: list[pickle.PickleBuffer] = []
    head = dumps(obj, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
    table = struct.pack(f"<{len(parts) + 1}Q", len(parts), *(part.nbytes for part in parts))
    pieces: list[Any] = []
    for part in (memoryview(table), *parts):
        pieces += [part, bytes(-part.nbytes % _ALIGNED)]
    return pieces


def decode(content: Any) -> Any:
    """The object of a message; its arrays lie in `content`, and can be written to if that can."""
    view = memoryview(content)
    (count,) = struct.unpack_from("<Q", view)
    start, parts = _aligned(8 * (count + 1)), []
    for length in struct.unpack_from(f"<{count}Q", view, 8):
        parts.append(view[start : start + length])
        start += _aligned(length)
    return pickle.loads(parts[0], buffers=parts[1:])


def _aligned(length: int) -> int:
    return length + -length % _ALIGNED


def write(path: Path, pieces: Iterable[Any]) -> None:
    """Write a message to a new file, or leave none behind."""
    try:
        with path.open("xb", buffering=0) as file:
            _write_pieces(file, pieces)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


class Maps:
    """Files that are mapped into memory, each once for all the messages that go through it.

    To copy through a map takes a fourth of the time of reading or writing. Windows cannot rename
    what is mapped, so there nothing is.
    """

    usable = os.name != "nt"

    def __init__(self) -> None:
        self._known: dict[str, mmap.mmap] = {}

    def of(self, path: Path, file: Any) -> Any:
        """The whole content of an open file, as an array of bytes."""
        size, known = os.fstat(file.fileno()).st_size, self._known.get(path.name)
        if known is None or len(known) != size:
            known = self._known[path.name] = mmap.mmap(file.fileno(), size)
        return np.frombuffer(known, np.uint8)


_written = Maps()


def _rewrite(path: Path, pieces: Sequence[Any]) -> Path:
    """Write a message to a file that another has been read from, or to a new one."""
    for name in os.listdir(path.parent):
        if name.startswith(_FREE):
            reused = path.with_name(name.removeprefix(_FREE))
            try:
                os.rename(path.with_name(name), reused)
            except FileNotFoundError:  # another process was quicker
                continue
            _fill(reused, pieces)
            return reused
    write(path, pieces)
    return path


def _fill(path: Path, pieces: Sequence[Any]) -> None:
    """Write to a file that is there; one that cannot grow stays as it was, free for others."""
    with path.open("r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if Maps.usable and size >= _size(pieces):  # it has its memory: no map can run out of it
            _copy_pieces(_written.of(path, file), pieces)
            return
        try:
            _write_pieces(file, pieces)
        except BaseException:
            file.truncate(size)
            release(path)
            raise


def release(path: Path) -> None:
    """Leave a file for another message; it may have gone already, with its folder."""
    with suppress(FileNotFoundError):
        os.rename(path, path.with_name(_FREE + path.name))


def _size(pieces: Iterable[Any]) -> int:
    return sum(memoryview(piece).nbytes for piece in pieces)


def _copy_pieces(content: Any, pieces: Iterable[Any]) -> None:
    start = 0
    for piece in filter(len, pieces):
        stop = start + len(piece)
        content[start:stop] = np.frombuffer(piece, np.uint8)
        start = stop


def _write_pieces(file: Any, pieces: Iterable[Any]) -> None:
    for piece in pieces:
        _write_all(file, memoryview(piece))


def _write_all(file: Any, view: memoryview) -> None:
    while view.nbytes:  # one call writes 2 GiB at most
        view = view[file.write(view) :]


def send(obj: Any, folders: Sequence[Path], name: str, shared: int | None) -> bytes | str:
    """Hand over a message: itself if it is short, else the path of a file `name` that holds it.

    The file is in the first of the folders that has room for it; more than `shared` bytes do not go
    into the first one.
    """
    pieces = encode(obj)
    size = _size(pieces)
    if size <= _INLINE:
        return b"".join(pieces)
    if shared is not None and size > shared:
        folders = folders[-1:]
    for folder in folders:
        try:
            return str(_rewrite(folder / name, pieces))
        except OSError as error:
            full = error
    raise full


class Memory:
    """Memory for messages that are received: up to `most` blocks are kept to be used again."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._spare: list[Any] = []

    def lend(self, length: int) -> Any:
        """Memory of `length` bytes; it comes back when nobody refers to it, nor to part of it."""
        block = self._fitting(length)
        lent = block[:length]
        weakref.finalize(lent, self._back, block).atexit = False
        return lent

    def _fitting(self, length: int) -> Any:
        while self._spare:
            block = self._spare.pop()  # first, for what comes back may come at any time
            if length <= block.nbytes <= 2 * length:
                return block
        return np.empty(length, np.uint8)  # not cleared: it is about to be written to

    def _back(self, block: Any) -> None:
        if len(self._spare) < self._most:
            self._spare.append(block)


def receive(sent: bytes | str, memory: Memory, maps: Maps) -> Any:
    """The object that `send` handed over; its file is left for another message."""
    if isinstance(sent, bytes):
        return decode(bytearray(sent))
    path = Path(sent)
    with path.open("r+b" if maps.usable else "rb", buffering=0) as file:
        content = _copied(maps.of(path, file), memory) if maps.usable else _read(file, memory)
    release(path)
    return decode(content)


def _copied(shown: Any, memory: Memory) -> Any:
    length = _length(shown)
    if len(shown) < length:
        raise EOFError(_BROKEN_OFF)
    content = memory.lend(length)
    content[:] = shown[:length]
    return content


def _read(file: Any, memory: Memory) -> Any:
    (count,) = struct.unpack("<Q", file.read(8))
    file.seek(0)
    content = memory.lend(_length(file.read(8 * (count + 1))))
    file.seek(0)
    _read_all(file, memoryview(content))
    return content


def _length(shown: Any) -> int:
    """The length of a message, which the file may be longer than, by its beginning."""
    (count,) = struct.unpack_from("<Q", shown)
    lengths = struct.unpack_from(f"<{count}Q", shown, 8)
    return _aligned(8 * (count + 1)) + sum(map(_aligned, lengths))


def _read_all(file: Any, view: memoryview) -> None:
    while view.nbytes:
        got = file.readinto(view)
        if not got:
            raise EOFError(_BROKEN_OFF)
        view = view[got:]


def allocate(size: int) -> Any:
    """Shared memory of `size` bytes, for processes that are given it at their start.

    It has no name, so that nothing is left of it however they end.
    """
    return multiprocessing.RawArray("B", size)
