"""Files of Keras's: which layers they have, and the arrays of each, in the order of its weights.

Keras 3 writes `model.weights.h5`, alone or in a zip archive, `model.keras`. Its groups have the
paths of the model's attributes; layers in lists are called by their classes, and numbered. The
arrays of a layer are `vars/0`, `vars/1`, ..., those of its parts lie in groups of their own. Older
files, `model.h5`, say in attributes which layers there are and what their arrays are called. There
a model within the model is one layer, and the names of its arrays tell its own.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from core.errors import CheckpointDamaged, CheckpointError
from plugins.serializers.entries import FREE, PLAUSIBLE, Array
from plugins.serializers.extras import need
from plugins.serializers.hdf5_file import GroupEntries, blaming
from plugins.serializers.keras_settings import Settings, completed, settings_of, told_by

WEIGHTS = "model.weights.h5"
"""The weights in an archive."""

CONFIG = "config.json"
"""The settings of layers there."""

PARTS = (
    *["cell", "forward_layer", "backward_layer"],
    *["query_dense", "key_dense", "value_dense", "output_dense"],
)
"""Parts of a layer, in the order in which its weights are."""

_OF_ONE = re.compile(r"(forward|backward)_.*|(.*_)?cell(_\d+)?|query|key|value|attention_output")
"""Parts of a layer in older files: in the names of its arrays they stand behind its own."""

SEPARABLE = ("separable_conv2d_depthwise", "separable_conv2d_pointwise")
"""The two convolutions of one layer; links have them apart."""

KINDS = {
    *["dense", "time_distributed", "embedding", "p_re_lu", "prelu", "lstm", "lstm_cell", "gru"],
    *["simple_rnn", "bidirectional", "multi_head_attention", "depthwise_conv2d"],
    *SEPARABLE,
    *["batch_normalization", "layer_normalization", "group_normalization", "rms_normalization"],
    *[f"conv{n}d{end}" for n in "123" for end in ("", "_transpose")],
}
"""Classes that are told by a name; others may be anything."""

_ASIDE = re.compile(r"(^|/)(optimizer|metrics?|_metrics|compile_metrics|seed_generator)(/|$)")
"""Groups of other things than weights."""


class Layer(NamedTuple):
    """A layer of a file: its path, its class in lower case where the name tells, its arrays."""

    path: str
    kind: str
    arrays: list[Array]


def layers_of(data: bytes, label: str) -> tuple[list[Layer], bool]:
    """The layers of a file, and whether their order is that of the model.

    Raises CheckpointDamaged where it is no such file, and CheckpointError where it asks for more
    than plain arrays.
    """
    h5py = need("h5py", "hdf5", "load_keras")
    settings: dict[str, Settings] = {}
    if data[:2] == b"PK":
        data, settings = _unpacked(data, label)
    with blaming(label), h5py.File(BytesIO(data), "r") as file:
        group = file.get("model_weights", file)
        if "layer_names" in group.attrs:
            return [*_apart(_listed(group, label))], True
        layers = sorted(_grouped(group, label, settings), key=lambda each: _numbered(each.path))
        return [*_apart(layers)], False


def _unpacked(data: bytes, label: str) -> tuple[bytes, dict[str, Settings]]:
    """The weights in an archive, and the settings of layers, which lie beside them."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            weights = _member(archive, WEIGHTS, label)
            there = CONFIG in archive.namelist()
            config = json.loads(_member(archive, CONFIG, label)) if there else {}
    except CheckpointError:
        raise
    except _UNREADABLE as error:
        raise CheckpointDamaged(
            f"{label}: expected an archive of Keras's with {WEIGHTS} in it: {error}. Nothing was "
            "loaded."
        ) from error
    return weights, settings_of(config)


def _member(archive: zipfile.ZipFile, name: str, label: str) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > max(FREE, PLAUSIBLE * info.compress_size):
        raise CheckpointError(
            f"{label}: {name} has {info.compress_size} bytes that would unpack to "
            f"{info.file_size}, and is refused."
        )
    return archive.read(info)


_UNREADABLE = (zipfile.BadZipFile, zlib.error, *(KeyError, EOFError, RuntimeError, ValueError))
"""What malformed archives make zipfile raise."""


def _numbered(path: str) -> list[tuple[str, int]]:
    """Paths in order, names with numbers behind by these."""
    pairs = [re.fullmatch(r"(.*?)(?:_(\d+))?", part) for part in path.split("/")]
    return [(m[1], int(m[2] or 0)) for m in pairs if m]


def _kind(path: str) -> str:
    return _numbered(path)[-1][0]


def _grouped(group: Any, label: str, settings: Mapping[str, Settings]) -> Iterator[Layer]:
    entries = GroupEntries(group, label)
    found: dict[str, list[tuple[int, int, str]]] = {}
    called: dict[str, str] = {}
    for name in entries:
        path, _, number = name.rpartition("/vars/")
        if not number.isdigit() or _ASIDE.search(path):
            continue
        parts, rank = path.split("/"), 0
        while len(parts) > 1 and (own := parts[-1].lstrip("_")) in PARTS:
            rank = max(rank, PARTS.index(own))
            parts.pop()
        whole = "/".join([part for part in parts if part not in ("layers", _OLD)])
        found.setdefault(whole, []).append((rank, int(number), name))
        own = group.get("/".join([*parts, "vars"]))
        called[whole] = "" if own is None else _text(own.attrs.get("name", ""))
    for path, names in found.items():
        arrays = [_array(group, entries, name) for _, _, name in sorted(names)]
        made_with = settings.get(called[path], {})
        yield Layer(path, _kind(path), completed(_kind(path), arrays, made_with))


_OLD = "_layer_checkpoint_dependencies"
"""What the list of layers was called before Keras 3."""


def _listed(group: Any, label: str) -> Iterator[Layer]:
    for name in map(_text, group.attrs["layer_names"]):
        own = group[name]
        names = [_text(each) for each in own.attrs.get("weight_names", ())]
        if not names:
            continue
        entries = GroupEntries(own, label)
        inner: dict[str, list[str]] = {}
        for each in names:  # of one layer they may lie apart: what is trained comes first
            inner.setdefault(_inner(each, name), []).append(each)
        if _kind(name) in KINDS or len(inner) == 1:
            inner = {"": names}
        for path, those in inner.items():
            path = f"{name}/{path}".rstrip("/")
            arrays = [_array(own, entries, each) for each in those]
            yield Layer(path, _kind(path), completed(_kind(path), arrays, told_by(those)))


def _inner(name: str, layer: str) -> str:
    """The path of the layer within a layer to which an array of this name belongs; '' for none."""
    parts = name.split("/")[:-1]
    while len(parts) > 1 and parts[-1] != layer and _OF_ONE.fullmatch(parts[-1]):
        parts.pop()
    behind = [i + 1 for i, part in enumerate(parts) if part == layer][-1:]
    return "/".join(parts[behind[0] if behind else 0 :])


def _apart(layers: Iterable[Layer]) -> Iterator[Layer]:
    """The layers, with those of two convolutions as two of one path."""
    for layer in layers:
        if layer.kind != "separable_conv2d":
            yield layer
            continue
        yield layer._replace(kind=SEPARABLE[0], arrays=layer.arrays[:1])
        yield layer._replace(kind=SEPARABLE[1], arrays=layer.arrays[1:])


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def _array(group: Any, entries: GroupEntries, name: str) -> Array:
    array = entries[name]
    if array.dtype.kind == "V" and _text(group[name].attrs.get("dtype", "")) == "bfloat16":
        bits = np.frombuffer(array.tobytes(), "<u2").astype("u4") << 16
        return bits.view("f4").reshape(array.shape)
    return array
