"""The HDF5 file itself: datasets with checksums, behind a digest of the whole file.

Files that we write begin with a user block, which HDF5 leaves to programs; it holds the
SHA-256 of everything after it. Random damage is thus noticed before the HDF5 library, which
checks little, sees a byte. Files without a user block (Chainer's, h5py's) are held to the checks
of that library alone.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any

import numpy as np

from core.errors import CheckpointDamaged, CheckpointError
from plugins.formats import HDF5, instead
from plugins.serializers.atomic import replacing, write_all
from plugins.serializers.entries import (
    DENSEST,
    MARK,
    NONE,
    Array,
    Entries,
    File,
    Spec,
    contents,
    digest,
    is_none,
    opened,
    shrinks,
    storable,
)
from plugins.serializers.extended_dtypes import restored, restored_dtype
from plugins.serializers.extras import need

_USER_BLOCK = 512
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_UNREADABLE = (OSError, RuntimeError, KeyError, ValueError, TypeError, OverflowError)
_PLAIN_FILTERS = ({1, 32000}, {2}, {3})  # of each at most one: gzip or LZF, shuffle, checksums


# -- writing ----------------------------------------------------------------------------------

_numbers = itertools.count()


def write_hdf5(file: File, entries: Mapping[str, Array], compression: int | None) -> None:
    """Write the arrays by name; a path gets the complete new file or stays as it was.

    The file is made in memory: where the disk is full, the library brings the process down.
    """
    h5py = need("h5py", "hdf5", "save_hdf5")
    memory = {"driver": "core", "backing_store": False}
    name = f"memory {next(_numbers)}"  # HDF5 knows open files by their names, in all threads
    with h5py.File(name, "w", userblock_size=_USER_BLOCK, **memory) as made:
        for name, array in entries.items():
            write_dataset(made, name, array, compression)
        made.flush()
        image = made.id.get_file_image()  # without the user block
    block = (MARK + digest(BytesIO(image), 0, len(image))).ljust(_USER_BLOCK, b"\0")
    if not isinstance(file, str | os.PathLike):
        write_all("save_hdf5", file, block + image)
        return
    with replacing(file) as temporary, open(temporary, "wb") as stream:
        stream.write(block)
        stream.write(image)


def write_dataset(group: Any, name: str, array: Array, compression: int | None) -> None:
    """Store an array in a group of h5py; None as an empty dataset, as Chainer does."""
    h5py = need("h5py", "hdf5", "save_hdf5")
    if {"", "."} & {*name.lstrip("/").split("/")}:  # which HDF5 leaves out
        raise CheckpointError(
            f"save_hdf5: HDF5 cannot hold {name!r}: expected slashes between parts that are "
            "neither empty nor '.'. Give it another name, or use save_npz."
        )
    if is_none(array):
        group.create_dataset(name, data=h5py.Empty("f"))
        return
    array = storable("save_hdf5", "HDF5 files", name, array)
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
        array = array.astype(h5py.string_dtype("utf-8", array.dtype.itemsize))
    # Only arrays with elements and axes can be stored in chunks, which checksums need.
    level = compression if shrinks(array) else None
    options = {"compression": level, "fletcher32": True} if array.ndim and array.size else {}
    try:
        group.create_dataset(name, data=array, **options)
    except (TypeError, ValueError) as error:
        raise CheckpointError(
            f"save_hdf5: HDF5 cannot hold {name!r}, of dtype {array.dtype}: {error}."
        ) from error


# -- reading ----------------------------------------------------------------------------------


class GroupEntries(Entries):
    """The datasets under a group of h5py, by path; each is read when it is asked for."""

    def __init__(self, group: Any, label: str) -> None:
        h5py = need("h5py", "hdf5", "load_hdf5")
        self.label = label
        self._datasets: dict[str, Any] = {}
        with blaming(label):
            found: list[tuple[str, Any]] = []
            group.visititems(lambda name, item: found.append((name, item)))
            if not all(isinstance(name, str) for name, _ in found):
                raise damaged(label, "a name in it is not text")
            self._datasets = {name: x for name, x in found if isinstance(x, h5py.Dataset)}
            self.specs = {name: self._spec(name, x) for name, x in self._datasets.items()}

    def __getitem__(self, name: str) -> Array:
        if self.specs[name].none:
            return NONE
        with blaming(self.label, name):
            array = np.asarray(self._datasets[name][()])
            is_text = self.specs[name].dtype.kind == "U"
            return np.char.decode(array, "utf-8") if is_text else restored(array)

    def _spec(self, name: str, dataset: Any) -> Spec:
        h5py = need("h5py", "hdf5", "load_hdf5")
        if dataset.shape is None:
            return Spec((), np.dtype("f"), none=True)
        self._refuse(name, dataset)
        text = h5py.check_string_dtype(dataset.dtype)
        is_text = text is not None and text.encoding == "utf-8"
        dtype = np.dtype(f"U{text.length}") if is_text else restored_dtype(dataset.dtype)
        return Spec(tuple(dataset.shape), dtype, held=dataset.id.get_storage_size())

    def _refuse(self, name: str, dataset: Any) -> None:
        """Refuse Python objects, what lies in other files, and sizes that cannot be true."""
        if dataset.dtype.hasobject or dataset.is_virtual or dataset.external:
            raise CheckpointError(
                f"{self.label}: dataset {name!r} holds references, or keeps its data in other "
                "files, and is refused. Save plain numbers, text or arrays instead."
            )
        if not _is_plain(dataset.id.get_create_plist()):
            raise CheckpointError(
                f"{self.label}: dataset {name!r} is packed by filters that can turn a few bytes "
                "into any number, and is refused. Store it with at most one of gzip and LZF."
            )
        held = dataset.id.get_storage_size()
        chunk = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
        if max(dataset.nbytes, chunk) > held * DENSEST and dataset.nbytes:
            raise damaged(
                self.label, f"dataset {name!r} has {held} bytes for {dataset.nbytes} of data"
            )


def _is_plain(creation: Any) -> bool:
    found = [creation.get_filter(i)[0] for i in range(creation.get_nfilters())]
    known = [sum(number in kind for number in found) for kind in _PLAIN_FILTERS]
    return max(known) <= 1 and sum(known) == len(found)


@contextmanager
def open_hdf5(file: File) -> Iterator[GroupEntries]:
    """The arrays of an HDF5 file, by its path or open for reading bytes, verified, for a block."""
    h5py = need("h5py", "hdf5", "load_hdf5")
    source: Any = file
    if isinstance(file, str | os.PathLike):
        label = os.fspath(file)
        with opened("load_hdf5", file) as stream:
            signed = _check_bytes(stream, label)
    else:
        data, label = contents("load_hdf5", file)
        source = BytesIO(data)
        signed = _check_bytes(source, label)
    with blaming(label):
        found = h5py.File(source, "r")
    with found:
        entries = GroupEntries(found, label)
        entries.signed = signed
        yield entries


def _check_bytes(stream: IO[bytes], label: str) -> bool:
    """Whether the file has a digest of its bytes; raises where that is wrong."""
    head = stream.read(_USER_BLOCK)
    if head.startswith(_SIGNATURE):
        return False
    if not head.startswith(MARK):
        raise damaged(label, "it does not begin as one", instead(stream, HDF5))
    found = digest(stream, _USER_BLOCK, stream.seek(0, os.SEEK_END))
    if head != (MARK + found).ljust(_USER_BLOCK, b"\0"):
        raise damaged(label, "its bytes do not have the digest that was stored with them")
    return True


def damaged(label: str, what: str, instead: str = "") -> CheckpointDamaged:
    """The error for a file that cannot be trusted; `instead` says what else it is."""
    return CheckpointDamaged(
        f"{label}: the file is damaged or no HDF5 file: {what}.{instead} "
        "Nothing of it was loaded; use another copy, or an earlier snapshot."
    )


@contextmanager
def blaming(label: str, name: str = "") -> Iterator[None]:
    """Turn whatever a malformed file makes h5py raise into one error."""
    try:
        yield
    except CheckpointError:
        raise
    except _UNREADABLE as error:
        raise damaged(label, f"dataset {name!r}: {error}" if name else str(error)) from error
