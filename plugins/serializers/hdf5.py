"""Saving to HDF5 files and loading from them; h5py is imported when one is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.errors.kinds import checked
from core.link.serializer import Serializable, Serializer
from plugins.serializers.dictionary import as_bytes, entries_of, host_array
from plugins.serializers.entries import File
from plugins.serializers.hdf5_file import GroupEntries, open_hdf5, write_dataset, write_hdf5
from plugins.serializers.loading import EntriesDeserializer, Ignored, load_entries


@checked
def save_hdf5(
    filename: File,
    obj: Serializable | Mapping[str, Any],
    compression: int | None = 4,
) -> None:
    """Save `obj` (or a dict) to an HDF5 file: a group for each part, a dataset for each value.

    The file is given by its path or open for writing bytes; `HDF5Serializer` writes into one that
    h5py has opened.

    Arrays that get smaller by it are compressed by gzip at the level `compression` (None for not at
    all), and all carry Fletcher-32 checksums; a digest of the whole file stands before it, in its
    user block. The file takes its place complete or not at all. None is an empty dataset, text is
    UTF-8.
    Needs h5py: `pip install 'plugrad[hdf5]'`.
    Raises CheckpointError for values that HDF5 cannot hold.

    >>> import core.links as L, h5py, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.h5")
    >>> save_hdf5(path, L.Linear(3, 2))
    >>> with h5py.File(path) as file:
    ...     file["W"].shape
    (2, 3)
    """
    _refuse_groups("save_hdf5", filename, "HDF5Serializer(group).save(obj)")
    write_hdf5(filename, entries_of("save_hdf5", obj), compression)


@checked
def load_hdf5(
    filename: File,
    obj: Serializable,
    *,
    path: str = "",
    strict: bool = True,
    ignore_names: Ignored = None,
) -> None:
    """Load what `save_hdf5` (or Chainer's) has saved into `obj`, completely or not at all.

    The file is given by its path or open for reading bytes.
    It is verified, and all names, shapes and dtypes are compared, before anything is loaded,
    as in `load_npz`, whose arguments `path`, `strict` and `ignore_names` these are. What Chainer or
    others have written is held to HDF5's own checks.
    Raises CheckpointDamaged for a file that is not what was written, CheckpointError for one that
    does not fit, or whose datasets lie in other files.

    >>> import core.links as L, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.h5")
    >>> model, other = L.Linear(3, 2), L.Linear(3, 2)
    >>> save_hdf5(path, model)
    >>> load_hdf5(path, other)
    >>> bool((model.W.array == other.W.array).all())
    True
    """
    _refuse_groups("load_hdf5", filename, "HDF5Deserializer(group).load(obj)")
    with open_hdf5(filename) as entries:
        load_entries("load_hdf5", obj, EntriesDeserializer(entries, path, strict, ignore_names))


def _refuse_groups(who: str, file: Any, instead: str) -> None:
    if hasattr(file, "visititems"):
        raise TypeError(f"{who}: expected a path or a file of bytes, got {file!r}. Use {instead}.")


class HDF5Serializer(Serializer):
    """Saves into `group`, a group (or file) of h5py open for writing, as `save_hdf5` does.

    >>> import core.links as L, h5py
    >>> with h5py.File.in_memory() as file:
    ...     HDF5Serializer(file.create_group("model")).save(L.Linear(3, 2))
    ...     sorted(file["model"])
    ['W', 'b']
    """

    @checked
    def __init__(self, group: Any, compression: int | None = 4) -> None:
        self.group = group
        self.compression = compression

    def __getitem__(self, key: str) -> HDF5Serializer:
        return HDF5Serializer(self.group.require_group(key.strip("/")), self.compression)

    def __call__(self, key: str, value: Any) -> Any:
        """Store `value` under `key`, and return it."""
        write_dataset(self.group, key.lstrip("/"), host_array(value), self.compression)
        return value

    def statement(self, key: str, text: str, misfit: Callable[[str], str]) -> None:
        """Store the text as its bytes."""
        self(key, as_bytes(text))


class HDF5Deserializer(EntriesDeserializer):
    """Loads from `group`, a group (or file) of h5py.

    Raises CheckpointError at the first value that is missing (unless `strict` is False) or does
    not fit. `load_hdf5` compares everything before it loads anything; this class alone does not.

    >>> import core.links as L, h5py
    >>> model, other = L.Linear(3, 2), L.Linear(3, 2)
    >>> with h5py.File.in_memory() as file:
    ...     HDF5Serializer(file).save(model)
    ...     HDF5Deserializer(file).load(other)
    >>> bool((model.W.array == other.W.array).all())
    True
    """

    @checked
    def __init__(self, group: Any, strict: bool = True) -> None:
        super().__init__(GroupEntries(group, group.name), strict=strict)
        self.group = group
