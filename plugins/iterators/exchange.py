"""How processes hand each other objects: pickled, with the arrays in them as they lie in memory.

A message is the number of its parts, their lengths, and the parts: the pickle, then the content of
every array. A message of some size goes into a file, in shared memory where the system has it as a
folder. Other than named segments, files say when memory is full, instead of ending the process.

Memory that a process gets anew costs several times what copying into it does. So a file that has
been read is left for the next message, under a name that says so, and the memory of arrays that are
gone is used for others.
"""

from __future__ import annotations

import os
import pickle
import struct
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_ALIGNED = 64  # arrays begin at multiples of it, as allocators have it
_SHARED_MEMORY = "/dev/shm"

_FREE = "free-"

# A pipe takes up to 4096 bytes whole or not at all. No longer message is sent through it, so that a
# process that dies leaves no half of one, which the reader would wait for the end of.
_INLINE = 2048


def encode(obj: Any) -> list[Any]:
    """The message as pieces of bytes, one after the other; the arrays are not copied."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(obj, protocol=5, buffer_callback=buffers.append)
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
    _fill(path, path.open("xb", buffering=0), pieces)


def _fill(path: Path, opened: Any, pieces: Iterable[Any]) -> None:
    try:
        with opened as file:
            for piece in pieces:
                _write_all(file, memoryview(piece))
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _rewrite(path: Path, pieces: Iterable[Any]) -> None:
    """Write a message to a file that another has been read from, or to a new one."""
    for name in os.listdir(path.parent):
        if name.startswith(_FREE):
            try:
                os.rename(path.parent / name, path)
            except FileNotFoundError:  # another process was quicker
                continue
            return _fill(path, path.open("r+b", buffering=0), pieces)
    write(path, pieces)


def _write_all(file: Any, view: memoryview) -> None:
    while view.nbytes:  # one call writes 2 GiB at most
        view = view[file.write(view) :]


def send(obj: Any, folders: Sequence[Path], name: str, shared: int | None) -> bytes | str:
    """Hand over a message: itself if it is short, else the path of a file `name` that holds it.

    The file is in the first of the folders that has room for it; more than `shared` bytes do not go
    into the first one.
    """
    pieces = encode(obj)
    size = sum(memoryview(piece).nbytes for piece in pieces)
    if size <= _INLINE:
        return b"".join(pieces)
    if shared is not None and size > shared:
        folders = folders[-1:]
    for folder in folders:
        try:
            _rewrite(folder / name, pieces)
            return str(folder / name)
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


def receive(sent: bytes | str, memory: Memory) -> Any:
    """The object that `send` handed over; its file is left for another message."""
    if isinstance(sent, bytes):
        return decode(bytearray(sent))
    path = Path(sent)
    with path.open("rb", buffering=0) as file:
        content = memory.lend(_length(file))
        file.seek(0)
        _read_all(file, memoryview(content))
    os.rename(path, path.with_name(_FREE + path.name))
    return decode(content)


def _length(file: Any) -> int:
    """The length of a message, which the file may be longer than."""
    (count,) = struct.unpack("<Q", file.read(8))
    lengths = struct.unpack(f"<{count}Q", file.read(8 * count))
    return _aligned(8 * (count + 1)) + sum(map(_aligned, lengths))


def _read_all(file: Any, view: memoryview) -> None:
    while view.nbytes:
        got = file.readinto(view)
        if not got:
            raise EOFError("a message from a worker process ends before its time")
        view = view[got:]


def private_folders() -> list[Path]:
    """New folders for messages: one in shared memory where that is a folder, and one elsewhere."""
    usable = os.path.isdir(_SHARED_MEMORY) and os.access(_SHARED_MEMORY, os.W_OK)
    places = [_SHARED_MEMORY, None] if usable else [None]
    prefix = f"plugrad-{os.getpid()}-"
    return [Path(tempfile.mkdtemp(prefix=prefix, dir=place)) for place in places]
