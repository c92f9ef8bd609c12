"""Weights of Keras's models in links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from typing import Any, TypeAlias

from core import Link
from core.errors import CheckpointError
from core.errors.kinds import checked
from plugins.serializers.entries import Array, File, contents
from plugins.serializers.keras_file import KINDS, Layer, layers_of
from plugins.serializers.keras_names import Unit, units_of
from plugins.serializers.keras_settings import NORMS
from plugins.serializers.loading import EntriesDeserializer, load_entries
from plugins.serializers.matching import Mapped, Matches, Matching, check_link, renamed, shapes_of

Shapes: TypeAlias = Mapping[str, Sequence[int] | None]
Fitting: TypeAlias = tuple[Layer, dict[str, Array]]


@checked
def load_keras(
    file: File,
    model: Link,
    mapping: Mapped = None,
    *,
    flattened: Shapes | None = None,
    dry_run: bool = False,
) -> Matches:
    """Load the weights of a Keras model into a link, completely or not at all.

    The file is `model.weights.h5` or `model.keras` of Keras 3, or `model.h5` of an older one;
    nothing in it is run, and Keras need not be installed. Where all layers have the paths of the
    links, they are matched by path; otherwise, class by class, in their order, where all shapes
    fit. Kernels are transposed, gates of recurrent layers put in order. Biases of links are 0 where
    the layer has none, gamma 1 and beta 0 where it was made with `scale=False` or `center=False`,
    which `model.keras` and `model.h5` tell; of `model.weights.h5` the link has to be like the
    layer. Needs h5py: `pip install 'plugrad[hdf5]'`. Its library is not made for files
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
    check_link("load_keras", model)
    flattened = _shapes_of({} if flattened is None else flattened)
    data, label = contents("load_keras", file)
    layers, ordered = layers_of(data, label)
    layers = [*_renamed(layers, mapping)]
    matches, found = _Matching(model, layers, label, ordered, flattened).match()
    if not dry_run:
        load_entries("load_keras", model, EntriesDeserializer(found))
    return matches


def _renamed(layers: list[Layer], mapping: Mapped) -> Iterator[Layer]:
    for layer in layers:
        new = renamed(layer.path.replace("/", "."), mapping)
        if new is not None:
            yield layer._replace(path=new.replace(".", "/"))


class _Matching(Matching):
    def __init__(
        self, model: Link, layers: list[Layer], label: str, ordered: bool, flattened: Shapes
    ) -> None:
        super().__init__("load_keras", model, label)
        self._ordered = ordered
        self._units = list(units_of(model))
        self._rest = layers
        paths = [unit.path for unit in self._units]
        self._by_path = len({*paths}) == len(paths) and {*paths} <= {x.path for x in layers}
        self._flattened = {path.strip("/"): shape for path, shape in flattened.items()}
        unknown = self._flattened.keys() - {u.path for u in self._units if "dense" in u.kinds}
        if unknown:
            raise CheckpointError(
                f"load_keras: expected paths of Linear links in flattened, got {min(unknown)!r}."
            )

    def match(self) -> tuple[Matches, dict[str, Array]]:
        """The matches, and the arrays by entry; raises where anything does not fit."""
        channels = 0
        for unit in self._units:
            pairs = [(x, self._made(unit, x)) for x in self._candidates(unit)]
            fitting = [(x, made) for x, made in pairs if made is not None]
            if problem := self._problem(unit, [x for x, _ in pairs], fitting, channels):
                self.problems.append(f"{unit.path or 'the model'}: {problem}")
                continue
            layer, made = fitting[0]
            if unit.channels is not None:
                channels = unit.channels(next(iter(made.values())))
            self._rest.remove(layer)
            self.add(made, [layer.path], layer.arrays, "")
        self.leave([layer.path for layer in self._rest])
        return self.done("layers")

    def _candidates(self, unit: Unit) -> list[Layer]:
        """The layers that a unit may stand for, those first of which the name tells the class."""
        if self._by_path:
            return [x for x in self._rest if x.path == unit.path]
        known = [x for x in self._rest if x.kind in unit.kinds]
        return known + [x for x in self._rest if x.kind not in KINDS]

    def _problem(
        self, unit: Unit, there: list[Layer], fitting: list[Fitting], channels: int
    ) -> str:
        """What speaks against the first layer that fits; '' where nothing does."""
        if not fitting:
            shapes = "; ".join([f"{x.path} {shapes_of(x.arrays)}" for x in there])
            one = any([x.kind in NORMS and len(x.arrays) % 2 for x in there])
            cure = ", of which one is gamma or beta: give model.keras, which tells" * one
            return f"no layer fits; there are {shapes or 'none'}{cure}"
        first = fitting[0][0]
        apart = [x for x, _ in fitting if _doubtful(first, x)]
        if apart and not (self._ordered or self._by_path):
            return f"{first.path} and {apart[0].path} fit either"
        if not channels or "dense" not in unit.kinds or unit.path in self._flattened:
            return ""
        n = first.arrays[0].shape[0]
        if n == channels or n % channels:
            return ""
        return (
            f"it takes {n} numbers, which may be maps of {channels} channels, of "
            "which these come last there and first here. Say by flattened= the shape "
            f"(height, width, {channels}) of one, or None"
        )

    def _made(self, unit: Unit, layer: Layer) -> dict[str, Array] | None:
        """The arrays of the unit by entries; None where the layer does not fit."""
        arrays = layer.arrays
        shape = self._flattened.get(unit.path)
        try:
            if shape is not None:
                h, w, c = shape
                maps = arrays[0].reshape(h, w, c, -1).transpose(2, 0, 1, 3)
                arrays = [maps.reshape(h * w * c, -1), *arrays[1:]]
            made = unit.convert(arrays)
        except (ValueError, IndexError, StopIteration):
            return None
        return self.fitting(unit.path, made)


def _shapes_of(flattened: Any) -> Shapes:
    """What `flattened` says; raises TypeError for what is no dict of shapes by paths."""
    shapes = list(flattened.values()) if isinstance(flattened, Mapping) else [flattened, ()]
    if all([shape is None or (isinstance(shape, Sized) and len(shape) == 3) for shape in shapes]):
        return flattened  # type: ignore[no-any-return]
    raise TypeError(
        "load_keras: expected flattened to be a dict of shapes (height, width, channels), or None, "
        f"by the paths of Linear links, such as {{'fc': (4, 4, 8)}}; got {flattened!r:.60}."
    )


def _doubtful(one: Layer, other: Layer) -> bool:
    """Whether nothing tells which of two layers comes first: neither their class nor a number."""
    if one is other:
        return False
    folders = [layer.path.rpartition("/")[0] for layer in (one, other)]
    return one.kind != other.kind or folders[0] != folders[1]
