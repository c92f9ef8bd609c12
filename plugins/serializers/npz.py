"""Saving to npz files and loading from them: verified, reported as a whole, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.errors import CheckpointError
from core.errors.kinds import checked
from core.link.serializer import Serializable
from plugins.serializers.dictionary import entries_of
from plugins.serializers.entries import File
from plugins.serializers.loading import EntriesDeserializer, Ignored, load_entries
from plugins.serializers.npz_archive import Archive, open_archive, write_archive


@checked
def save_npz(file: File, obj: Serializable | Mapping[str, Any], compression: bool = True) -> None:
    """Save `obj` to an npz file, given by its path (used as it is) or open for writing bytes.

    A dict is written as it is, entry by entry: what a `DictionarySerializer` has collected.
    With `compression`, arrays are compressed that get smaller by it: weights hardly do.

    The file is written beside its place, synced, and moved there: whoever looks finds the old
    file or the new one, complete. A digest of all its bytes is stored with it; `numpy.load` reads
    it as any other.
    Raises CheckpointError for values that would need pickle.

    >>> import core.links as L, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> save_npz(path, L.Linear(3, 2))
    """
    write_archive(file, entries_of("save_npz", obj), compression)


@checked
def load_npz(
    file: File,
    obj: Serializable,
    path: str = "",
    strict: bool = True,
    ignore_names: Ignored = None,
) -> None:
    """Load what `save_npz` (or Chainer's) has saved into `obj`, completely or not at all.

    `path` is the part of the file to load from, as 'updater/model:main/'. With `strict=False`,
    values that the file lacks stay as they are. `ignore_names` (names as in the file, or
    predicates on them) are not loaded.

    The file is verified first: CheckpointDamaged (a CheckpointError) if it is not what was written.
    Then all names, shapes and dtypes are compared: one CheckpointError tells everything that does
    not fit. Only then is anything loaded. Entries that nothing asked for cause a warning.

    >>> import core.links as L, numpy as np, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> model, other = L.Linear(3, 2), L.Linear(3, 2)
    >>> save_npz(path, model)
    >>> load_npz(path, other)
    >>> bool(np.all(model.W.array == other.W.array))
    True
    """
    with open_archive(file) as archive:
        load_entries("load_npz", obj, NpzDeserializer(archive, path, strict, ignore_names))


class NpzDeserializer(EntriesDeserializer):
    """Loads from a mapping of slash-separated names to arrays.

    What `numpy.load` gives is verified and read as `load_npz` does it: nothing is unpickled, even
    where it was opened with `allow_pickle=True`.
    Raises CheckpointError at the first value that is missing (unless `strict` is False) or does
    not fit. `load_npz` compares everything before it loads anything; this class alone does not.
    """

    @checked
    def __init__(
        self,
        npz: Mapping[str, Any],
        path: str = "",
        strict: bool = True,
        ignore_names: Ignored = None,
    ) -> None:
        verified = _verified(npz) if isinstance(npz, np.lib.npyio.NpzFile) else npz
        super().__init__(verified, path, strict, ignore_names)
        self.npz = npz


def _verified(npz: Any) -> Archive:
    if npz.zip is None:
        raise CheckpointError("NpzDeserializer: expected an open npz file; this one was closed.")
    return Archive(npz.zip.fp, str(npz.zip.filename or "the npz file"))
