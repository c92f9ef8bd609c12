"""What layers of Keras's were made without, and the arrays that stand for it.

A normalization without `scale` or `center` has one array fewer, of the same shape as the other, and
a GRU without bias does not show when its gates are reset. Names of arrays tell it, or the settings
of the layers, which lie in archives beside the weights; where neither is there, nothing does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from plugins.serializers.entries import Array

Settings: TypeAlias = Mapping[str, Any]
"""What a layer was made with, by the names of arguments."""

NORMS = ("batch_normalization", "layer_normalization", "group_normalization")
_TOLD = ("gamma", "beta", "moving_mean")


def settings_of(config: Any) -> dict[str, Settings]:
    """The settings of all layers in a model's configuration, by name.

    Of layers in several models that share a name but not their settings none is kept.

    >>> norm = {"class_name": "BatchNormalization", "config": {"name": "bn", "scale": False}}
    >>> settings_of({"class_name": "Sequential", "config": {"layers": [norm]}})
    {'bn': {'name': 'bn', 'scale': False}}
    """
    found: dict[str, Settings] = {}
    several = set()
    waiting = [config]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            own = each.get("config") if "class_name" in each else None
            name = own.get("name") if isinstance(own, Mapping) else None
            if own and isinstance(name, str) and found.setdefault(name, own) != own:
                several.add(name)
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return {name: settings for name, settings in found.items() if name not in several}


def told_by(names: Sequence[str]) -> Settings:
    """The settings of a normalization that the names of its arrays tell.

    >>> told_by(["bn/beta:0", "bn/moving_mean:0", "bn/moving_variance:0"])
    {'scale': False, 'center': True}
    """
    own = {name.rpartition("/")[2].partition(":")[0] for name in names}
    return {"scale": "gamma" in own, "center": "beta" in own} if own & {*_TOLD} else {}


def completed(kind: str, arrays: list[Array], settings: Settings) -> list[Array]:
    """The arrays of a layer, with those that stand for what it was made without."""
    if kind in NORMS and arrays:
        like = arrays[0]
        if settings.get("scale") is False:
            arrays = [np.ones_like(like), *arrays]
        if settings.get("center") is False:
            arrays = [arrays[0], np.zeros_like(like), *arrays[1:]]
    if kind == "gru" and len(arrays) == 2 and "reset_after" in settings:
        rows = (2,) if settings["reset_after"] else ()
        arrays = [*arrays, np.zeros((*rows, *arrays[0].shape[1:]), arrays[0].dtype)]
    return arrays
