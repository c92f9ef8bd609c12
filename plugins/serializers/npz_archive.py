"""The npz file itself: a zip archive of arrays, verified as a whole before anything is used.

What we write is what `numpy.savez` writes, readable by `numpy.load`, with one thing more: the
archive's comment holds the SHA-256 of every byte before it. Files without a comment (Chainer's,
NumPy's) are accepted and held to the archive's own checksums. Nothing is ever unpickled.
"""

from __future__ import annotations

import math
import os
import pickletools
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from core.errors import CheckpointDamaged, CheckpointError
from plugins.formats import NPZ, instead
from plugins.serializers.atomic import replacing, write_all
from plugins.serializers.entries import (
    CHUNK,
    DENSEST,
    DIGITS,
    MARK,
    NONE,
    PLAUSIBLE,
    Array,
    Entries,
    File,
    Spec,
    contents,
    digest,
    opened,
    shrinks,
    storable,
)
from plugins.serializers.extended_dtypes import restored, restored_dtype
from plugins.serializers.open_files import check_open

_END_OF_ARCHIVE = b"PK\x05\x06"


# -- writing ----------------------------------------------------------------------------------


def write_archive(file: File, entries: Mapping[str, Array], compression: bool) -> None:
    """Write the arrays, by name; a path gets either the complete new file or stays as it was."""
    if not isinstance(file, str | os.PathLike):
        buffer = BytesIO()
        _write(buffer, entries, compression)
        write_all("save_npz", file, buffer.getvalue())
        return
    with replacing(file) as temporary, open(temporary, "w+b") as stream:
        _write(stream, entries, compression)


def _write(stream: IO[bytes], entries: Mapping[str, Array], compression: bool) -> None:
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in entries.items():
            array = storable("save_npz", "npz files", name, array)
            info = zipfile.ZipInfo(name + ".npy")  # no date: equal states give equal files
            packed = compression and shrinks(array)
            info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
            with archive.open(info, "w", force_zip64=True) as member:
                npy.write_array(member, array, allow_pickle=False)
        archive.comment = MARK + b"0" * DIGITS
    end = stream.seek(-DIGITS, os.SEEK_END)
    found = digest(stream, 0, end)
    stream.seek(end)
    stream.write(found)
    stream.flush()


# -- reading ----------------------------------------------------------------------------------


class Archive(Entries):
    """The arrays of a verified npz file; each is read when it is asked for.

    Raises CheckpointDamaged where any byte is not what was written, or the file is not an npz
    archive, and CheckpointError for one that was made to unpack to far more than it is.
    """

    def __init__(self, stream: IO[bytes], label: str) -> None:
        self.label = label
        self._stream = stream
        self._size = stream.seek(0, os.SEEK_END)
        self.signed = self._check_bytes(stream)
        with self._blaming():
            self._zip = zipfile.ZipFile(stream)
            self._infos = self._list()
            self._check_sizes()
            if not self.signed:
                self._check_plausible()
                self._check_sums()
            self.specs = {name: self._spec(name) for name in self._infos}

    def __getitem__(self, name: str) -> Array:
        if self.specs[name].none:
            return NONE
        with self._blaming(name), self._zip.open(self._infos[name]) as member:
            return restored(np.asarray(npy.read_array(member, allow_pickle=False)))

    def _damaged(self, what: str) -> CheckpointDamaged:
        return CheckpointDamaged(
            f"{self.label}: the file is damaged or no npz archive: {what}."
            f"{instead(self._stream, NPZ)} "
            "Nothing of it was loaded; use another copy, or an earlier snapshot."
        )

    @contextmanager
    def _blaming(self, name: str = "") -> Iterator[None]:
        """Turn whatever a malformed archive makes the readers raise into one error."""
        try:
            yield
        except CheckpointError:
            raise
        except _MALFORMED as error:
            where = f"entry {name!r}: " if name else ""
            raise self._damaged(f"{where}{error}") from error

    def _check_bytes(self, stream: IO[bytes]) -> bool:
        """Whether the file is signed; raises where the signature is wrong or broken."""
        size = self._size
        stream.seek(max(0, size - len(MARK) - DIGITS))
        tail = stream.read()
        if tail.startswith(MARK) and len(tail) == len(MARK) + DIGITS:
            if digest(stream, 0, size - DIGITS) != tail[len(MARK) :]:
                raise self._damaged("its bytes do not have the digest that was stored with them")
            return True
        if tail[-22:-18] != _END_OF_ARCHIVE or tail[-2:] != b"\0\0":
            raise self._damaged(f"it does not end as such an archive does (size: {size} bytes)")
        return False

    def _list(self) -> dict[str, zipfile.ZipInfo]:
        infos = self._zip.infolist()
        names = [info.filename for info in infos]
        if len(set(names)) < len(names):
            raise self._damaged("it holds two entries of one name")
        return {info.filename.removesuffix(".npy"): info for info in infos}

    def _check_sizes(self) -> None:
        """Refuse sizes that cannot be true, and ways of packing that NumPy never uses."""
        infos = self._infos.values()
        if sum(info.compress_size for info in infos) > self._size:
            raise self._damaged("its entries overlap, or claim to be larger than the file")
        for info in infos:
            if info.compress_type not in _METHODS:
                raise self._damaged(f"entry {info.filename!r} is packed in an unknown way")
            if info.file_size > DENSEST * (info.compress_size + 1):
                raise self._damaged(
                    f"entry {info.filename!r} has {info.compress_size} bytes for {info.file_size}"
                )

    def _check_plausible(self) -> None:
        """Refuse to unpack, in order to verify it, what was made to fill the memory or the day."""
        total = sum(info.file_size for info in self._infos.values())
        if total > max(_TRUSTED, PLAUSIBLE * self._size):
            raise CheckpointError(
                f"{self.label}: {self._size} bytes would unpack to {total}, which is refused as a "
                "zip bomb. If the file is good, store it uncompressed: np.savez in place of "
                "np.savez_compressed."
            )

    def _check_sums(self) -> None:
        for info in self._infos.values():
            with self._zip.open(info) as member:
                while member.read(CHUNK):
                    pass

    def _spec(self, name: str) -> Spec:
        info = self._infos[name]
        with self._blaming(name), self._zip.open(info) as member:
            shape, dtype = self._header(name, member)
            if dtype.hasobject:
                return self._object(name, shape, member)
            held = info.file_size - member.tell()
            expected = math.prod(shape) * dtype.itemsize
            if held != expected or min(shape, default=0) < 0 or dtype.itemsize == 0:
                raise self._damaged(
                    f"entry {name!r} has {held} bytes for an array {dtype}{list(shape)}"
                )
        none = dtype == NONE.dtype and shape == ()
        return Spec(shape, restored_dtype(dtype), none, info.compress_size)

    def _header(self, name: str, member: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and dtype of an entry, whose header may claim to be gigabytes long."""
        version = npy.read_magic(member)
        if version not in _HEADERS:
            raise self._damaged(f"entry {name!r} has the unknown format version {version}")
        width, read = _HEADERS[version]
        prefix = member.read(width)
        if int.from_bytes(prefix, "little") > CHUNK:
            raise self._damaged(f"entry {name!r} has an absurd header")
        try:
            shape, _, dtype = read(BytesIO(prefix + member.read(int.from_bytes(prefix, "little"))))
        except MemoryError as error:  # the parser's, for nested brackets
            raise self._damaged(f"entry {name!r} has an absurd header") from error
        return shape, dtype

    def _object(self, name: str, shape: tuple[int, ...], member: IO[bytes]) -> Spec:
        """None as Chainer stores it: a pickle, looked at and not run."""
        if shape != () or not _pickles_none(member.read(CHUNK)):
            raise CheckpointError(
                f"{self.label}: entry {name!r} holds a pickled Python object, which could run "
                "any code when loaded, and is refused. Save plain numbers, text or arrays instead."
            )
        return Spec((), np.dtype(object), none=True)


_HEADERS = {
    (1, 0): (2, npy.read_array_header_1_0),
    (2, 0): (4, npy.read_array_header_2_0),
    (3, 0): (4, npy.read_array_header_2_0),  # whose fields have names in UTF-8: sizes are the same
}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TRUSTED = 1 << 30
_MALFORMED = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    SyntaxError,
    TypeError,
    OSError,
    tokenize.TokenError,
)


def _pickles_none(payload: bytes) -> bool:
    """Whether a pickle is that of a NumPy array of one object, which is None.

    The list with the array's content is the only list in such a pickle; its opcodes are read.
    """
    words = [op.name for op, _, _ in pickletools.genops(payload)]
    words = [w for w in words if "PUT" not in w and w != "MEMOIZE"]
    lists = [i for i, word in enumerate(words) if word == "EMPTY_LIST"]
    return len(lists) == 1 and words[lists[0] : lists[0] + 3] == ["EMPTY_LIST", "NONE", "APPEND"]


@contextmanager
def open_archive(file: File) -> Iterator[Archive]:
    """The arrays of an npz file, given by its path or open for reading bytes, for one block."""
    if isinstance(file, str | os.PathLike):
        with opened("load_npz", file) as stream:
            yield Archive(stream, os.fspath(file))
        return
    check_open("load_npz", file, "reading")
    if hasattr(file, "seek") and not file.tell():  # is not read into memory as a whole
        yield Archive(file, str(getattr(file, "name", "the file")))
    else:
        data, label = contents("load_npz", file)
        yield Archive(BytesIO(data), label)
