"""Exchanging weights by safetensors files; the library is imported when one is met."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from core.errors.kinds import checked
from core.link.serializer import Serializable
from plugins.serializers.atomic import replacing, write_all
from plugins.serializers.dictionary import entries_of
from plugins.serializers.entries import Entries, File, contents
from plugins.serializers.loading import EntriesDeserializer, Ignored, load_entries
from plugins.serializers.safetensors_file import ShardedEntries, TensorEntries, to_bytes
from plugins.serializers.shards import index_of


def save_safetensors(file: File, obj: Serializable | Mapping[str, Any]) -> None:
    """Save the arrays and numbers of `obj` (or a dict) to a safetensors file, by path or open.

    Tensors are named by their paths, as `l1/W`; any program that knows the format reads them. A
    file given by its path takes its place complete or not at all. A digest of all its bytes is in
    its metadata, as are the names that stand for None.
    Needs safetensors: `pip install 'plugrad[safetensors]'`.
    Raises CheckpointError for text and for dtypes that the format does not have.

    >>> import core.links as L, os, safetensors.numpy, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> save_safetensors(path, L.Linear(3, 2))
    >>> sorted(safetensors.numpy.load_file(path))
    ['W', 'b']
    """
    data = to_bytes(entries_of("save_safetensors", obj))
    if isinstance(file, str | os.PathLike):
        with replacing(file) as temporary:
            temporary.write_bytes(data)
    else:
        write_all("save_safetensors", file, data)


@checked
def load_safetensors(
    file: File,
    obj: Serializable,
    path: str = "",
    strict: bool = True,
    ignore_names: Ignored = None,
) -> None:
    """Load a safetensors file, ours or anybody's, into `obj`, completely or not at all.

    The file may be the index of several, as `model.safetensors.index.json`, which lie beside it.

    The arguments are those of `load_npz`, as are the checks that come first: CheckpointDamaged for
    a file that is not what was written, CheckpointError for one that does not fit. Values in
    bfloat16 come as such where ml_dtypes is installed, otherwise as float32, which holds them
    exactly.

    >>> import core.links as L, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> model, other = L.Linear(3, 2), L.Linear(3, 2)
    >>> save_safetensors(path, model)
    >>> load_safetensors(path, other)
    >>> bool((model.W.array == other.W.array).all())
    True
    """
    entries = _entries(file)
    load_entries("load_safetensors", obj, EntriesDeserializer(entries, path, strict, ignore_names))


def _entries(file: File) -> Entries:
    data, label = contents("load_safetensors", file)
    index = index_of(data)
    return TensorEntries(data, label) if index is None else ShardedEntries(index, file, label)
