"""The common parts of networks for images: named layers, features, predictions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from core import Chain, Variable, no_backprop_mode, using_config
from core import functions as F
from core.errors import nearest
from core.errors.removed import removed
from core.typing import Array
from plugins.links.model.vision import weights
from plugins.links.model.vision.images import Size, batch, center_crop, ten_crops

Layer = Callable[[Any], Any]
Table = dict[str, tuple[str | Layer, ...]]
Weights = str | os.PathLike[str] | None


class VisionModel(Chain):
    """A chain whose layers are listed in a table: name -> functions that are applied in order.

    A step in the table is the name of a child, or a function. `branches` tells the layers that
    start from the output of another layer than that before them. `features` is the layer that
    `extract` gives where none is asked for.
    """

    features: ClassVar[str]
    branches: ClassVar[dict[str, str]] = {}
    prepare: ClassVar[Callable[..., Any]]
    _table: Table

    @property
    def functions(self) -> dict[str, list[Layer]]:
        """The layers: name -> the links and functions that are applied in order."""
        return {
            name: [self[step] if isinstance(step, str) else step for step in steps]
            for name, steps in self._table.items()
        }

    @property
    def available_layers(self) -> list[str]:
        """The names that `layers` may contain."""
        return list(self.functions)

    @removed()
    def forward(self, x: Array, layers: Iterable[str] | None = None) -> dict[str, Variable]:
        """Apply the network to prepared images (n, 3, h, w); returns name -> output.

        `layers` are the names of those whose outputs are wanted, `['prob']` by default. Nothing
        behind the last of them is computed.
        """
        functions = self.functions
        wanted = self._asked_for(["prob"] if layers is None else layers, functions)
        found: dict[str, Variable] = {}
        y: Any = x
        for name in functions:
            if len(found) == len(wanted):
                break
            if name in self.branches:
                continue
            for step in functions[name]:
                y = step(y)
            if name in wanted:
                found[name] = y
            for branch in wanted:
                if self.branches.get(branch) == name:
                    found[branch] = _applied(functions[branch], y)
        return {name: found[name] for name in functions if name in found}

    def _asked_for(self, layers: Iterable[str], known: Iterable[str]) -> set[str]:
        """The names of layers, all of them known."""
        if isinstance(layers, str):
            raise TypeError(
                f"links.{type(self).__name__}: expected layers to be a list of names, got "
                f"{layers!r}. Write layers=[{layers!r}]."
            )
        wanted = set(layers)
        for name in sorted(wanted.difference(known)):
            raise ValueError(
                f"links.{type(self).__name__}: expected layers among {', '.join(known)}, "
                f"got {name!r}.{nearest(name, known)}"
            )
        return wanted

    @removed()
    def extract(
        self,
        images: Iterable[Any],
        layers: Iterable[str] | None = None,
        size: Size = (224, 224),
    ) -> dict[str, Variable]:
        """Return the outputs of `layers` for images, which are prepared and resized to `size`.

        The current modes are used: within `core.using_config('train', False)` nothing is dropped
        out and batch normalization uses its averages; within `core.no_backprop_mode()` no graph
        is kept, and what is not asked for is freed on the way.
        """
        x = batch(images, type(self).prepare, size)
        y: dict[str, Variable] = self(
            self.device.send(x), [self.features] if layers is None else layers
        )
        return y

    def predict(self, images: Iterable[Any], oversample: bool = True) -> Variable:
        """Return probabilities (n, 1000) of the classes for images, which are prepared first.

        The images are brought to 256 by 256 pixels. With `oversample`, predictions for the four
        corners and the middle of each, 224 by 224 pixels, and for their mirror images are averaged;
        else the middle alone is seen. It runs in test mode, and keeps no graph.
        """
        x = batch(images, type(self).prepare, (256, 256))
        x = ten_crops(x, 224) if oversample else center_crop(x, 224)
        with no_backprop_mode(), using_config("train", False):
            y = self(self.device.send(x))["prob"]
            return F.average(F.reshape(y, (-1, 10, y.shape[1])), axis=1) if oversample else y

    @classmethod
    def convert_caffemodel_to_npz(cls, path_caffemodel: Any, path_npz: Any) -> None:
        """Refused: Caffe's files are not read here."""
        raise NotImplementedError(
            f"links.{cls.__name__}.convert_caffemodel_to_npz: {weights.NO_CAFFE}"
        )


def _applied(steps: list[Layer], x: Any) -> Any:
    for step in steps:
        x = step(x)
    return x
