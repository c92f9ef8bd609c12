"""Weights of Keras's models in links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from core import Link
from core.errors import CheckpointError
from core.errors.kinds import checked
from plugins.serializers.dictionary import check_serializable, values_of
from plugins.serializers.entries import Array, File, contents, is_none
from plugins.serializers.keras_file import Layer, layers_of
from plugins.serializers.keras_names import KINDS, Unit, units_of
from plugins.serializers.loading import EntriesDeserializer, load_entries
from plugins.serializers.torch import Mapped, Matches, Row, renamed


@checked
def load_keras(
    file: File,
    model: Link,
    mapping: Mapped = None,
    *,
    flattened: Mapping[str, Sequence[int] | None] | None = None,
    dry_run: bool = False,
) -> Matches:
    """Load the weights of a Keras model into a link, completely or not at all.

    The file is `model.weights.h5` or `model.keras` of Keras 3, or `model.h5` of an older one;
    nothing in it is run, and Keras need not be installed. Where all layers have the paths of the
    links, they are matched by path; otherwise, class by class, in their order, where all shapes
    fit. Kernels are transposed, gates of recurrent layers put in order. Biases of links are 0 where
    the layer has none. Needs h5py: `pip install 'plugrad[hdf5]'`. Its library is not made for files
    that are damaged or malicious: load those that you trust.

    Args:
        file: A path, or a file open for reading bytes.
        model: A link; sizes that are open follow from the weights.
        mapping: New names for layers: a dict from the beginnings of their paths in the file to
            paths in the model, or a function of a path; None leaves layers out.
        flattened: By the path of a `Linear` that comes after `Flatten`, the shape (height, width,
            channels) of what is flattened there: channels come last there, and first here. None for
            one that takes no such thing.
        dry_run: Load nothing, and return what would be loaded.

    Returns:
        The matches, a list of `entries`, `tensors`, `shape` and `how`, shown as a table.

    Raises:
        CheckpointError: Layers are missing, left over or of other shapes, or nothing tells which is
            which; the message has the table as far as it goes.
        CheckpointDamaged: It is not such a file.

    >>> import core.links as L, core.serializers as S, h5py, io, numpy as np
    >>> file = io.BytesIO()
    >>> with h5py.File(file, "w") as written:  # as Keras writes it
    ...     written["layers/dense/vars/0"] = np.ones((3, 2), "f")
    ...     written["layers/dense/vars/1"] = np.zeros(2, "f")
    >>> _ = file.seek(0)
    >>> print(load_keras(file, L.Linear(3, 2)))
    model  file   shape
    W, b   dense  (3, 2), (2,)
    """
    check_serializable("load_keras", model)
    data, label = contents("load_keras", file)
    layers, ordered = layers_of(data, label)
    layers = [*_renamed(layers, mapping)]
    matches, found = _Matching(model, layers, label, ordered, flattened or {}).done()
    if not dry_run:
        load_entries("load_keras", model, EntriesDeserializer(found))
    return matches


def _renamed(layers: list[Layer], mapping: Mapped) -> Iterator[Layer]:
    for layer in layers:
        new = renamed(layer.path.replace("/", "."), mapping)
        if new is not None:
            yield layer._replace(path=new.replace(".", "/"))


class _Matching:
    def __init__(
        self,
        model: Any,
        layers: list[Layer],
        label: str,
        ordered: bool,
        flattened: Mapping[str, Sequence[int] | None],
    ) -> None:
        self._label, self._ordered = label, ordered
        self._entries = values_of("load_keras", model)
        self._units = list(units_of(model))
        self._rest = layers
        self._flattened = {path.strip("/"): shape for path, shape in flattened.items()}
        self._problems: list[str] = []
        unknown = self._flattened.keys() - {u.path for u in self._units if "dense" in u.kinds}
        if unknown:
            raise CheckpointError(
                f"load_keras: expected paths of Linear links in flattened, got {min(unknown)!r}."
            )

    def done(self) -> tuple[Matches, dict[str, Array]]:
        """The matches, and the arrays by entry; raises where anything does not fit."""
        matches, found = Matches(), dict[str, Array]()
        paths = [unit.path for unit in self._units]
        by_path = len({*paths}) == len(paths) and {*paths} <= {layer.path for layer in self._rest}
        channels = 0
        for unit in self._units:
            fitting = [x for x in self._rest if not by_path or x.path == unit.path]
            layer, made = self._found(unit, fitting, by_path, channels)
            if layer is None or made is None:
                continue
            if unit.channels is not None:
                channels = unit.channels(next(iter(made.values())))
            self._rest.remove(layer)
            found |= made
            shapes = ", ".join([str(array.shape) for array in layer.arrays])
            matches.append(Row((*made,), (layer.path,), shapes, ""))
        if self._rest:
            names = [layer.path for layer in self._rest]
            more = ", ..." * (len(names) > 8)
            self._problems.append(f"left over: {', '.join(names[:8])}{more}")
        if self._problems:
            raise CheckpointError(
                f"{self._label}: expected the layers of the model, got others:\n  "
                + "\n  ".join(self._problems)
                + f"\nNothing was loaded. Say by mapping= what is what. Matched so far:\n{matches}"
            )
        return matches, self._entries | found

    def _found(
        self, unit: Unit, layers: list[Layer], by_path: bool, channels: int
    ) -> tuple[Layer | None, dict[str, Array] | None]:
        """The first layer that a unit may stand for, and its arrays."""
        here = unit.path or "the model"
        known = [x for x in layers if x.kind in unit.kinds]
        others = [x for x in layers if x.kind not in KINDS]
        pairs = [(x, self._made(unit, x)) for x in (layers if by_path else [*known, *others])]
        fitting = [(x, made) for x, made in pairs if made is not None]
        if not fitting:
            shapes = [f"{x.path} {', '.join([str(a.shape) for a in x.arrays])}" for x, _ in pairs]
            self._problems.append(f"{here}: no layer fits; there are {'; '.join(shapes) or 'none'}")
            return None, None
        layer, made = fitting[0]
        apart = [x for x, _ in fitting if _doubtful(layer, x)]
        if apart and not (self._ordered or by_path):
            self._problems.append(f"{here}: {layer.path} and {apart[0].path} fit either")
            return None, None
        if "dense" in unit.kinds and unit.path not in self._flattened and channels:
            n = layer.arrays[0].shape[0]
            if n != channels and n % channels == 0:
                self._problems.append(
                    f"{here}: it takes {n} numbers, which may be maps of {channels} channels, of "
                    "which these come last there and first here. Say by flattened= the shape "
                    f"(height, width, {channels}) of one, or None"
                )
                return None, None
        return layer, made

    def _made(self, unit: Unit, layer: Layer) -> dict[str, Array] | None:
        """The arrays of the unit by entries; None where the layer does not fit."""
        arrays = layer.arrays
        shape = self._flattened.get(unit.path) if "dense" in unit.kinds else None
        try:
            if shape is not None:
                h, w, c = shape
                maps = arrays[0].reshape(h, w, c, -1).transpose(2, 0, 1, 3)
                arrays = [maps.reshape(h * w * c, -1), *arrays[1:]]
            made = unit.convert(arrays)
        except (ValueError, IndexError, StopIteration):
            return None
        found = {}
        for name, array in made.items():
            entry = f"{unit.path}/{name}" if unit.path else name
            known = self._entries.get(entry)
            if known is None or (not is_none(known) and known.shape != array.shape):
                return None
            found[entry] = np.ascontiguousarray(array).reshape(array.shape)
        return found


def _doubtful(one: Layer, other: Layer) -> bool:
    """Whether nothing tells which of two layers comes first: neither their class nor a number."""
    if one is other:
        return False
    folders = [layer.path.rpartition("/")[0] for layer in (one, other)]
    return one.kind != other.kind or folders[0] != folders[1]
