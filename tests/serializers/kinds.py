"""The kinds of files, objects to save in them, and ways to damage them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import core
from core import links as L
from core import serializers as S
from core.serializers import DictionarySerializer


class Kind(NamedTuple):
    """A kind of file, and whether it holds text."""

    name: str
    save: Callable
    load: Callable
    holds_text: bool = True


KINDS = [
    Kind("npz", S.save_npz, S.load_npz),
    Kind("hdf5", S.save_hdf5, S.load_hdf5),
    Kind("safetensors", S.save_safetensors, S.load_safetensors, holds_text=False),
]


class Bag:
    """Any named values, saved as they are."""

    def __init__(self, **values):
        self.values = values

    def serialize(self, serializer):
        for name in self.values:
            self.values[name] = serializer(name, self.values[name])


class Net(core.Chain):
    def __init__(self, hidden=4, seed=0):
        super().__init__()
        draw = np.random.RandomState(seed)
        with self.init_scope():
            self.l1 = L.Linear(3, hidden, initialW=draw.randn(hidden, 3).astype("f"))
            self.l2 = L.Linear(None, 2)
        self.add_persistent("steps", seed)


def state(obj):
    saved = DictionarySerializer()
    saved.save(obj)
    return {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in saved.target.items()}


def damaged(data, rng):
    """A copy of `data` cut short, with a bit flipped, or with a block overwritten."""
    kind = rng.randrange(3)
    at = rng.randrange(len(data))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    block = bytes(rng.randrange(256) for _ in range(16))
    changed = data[:at] + block + data[at + len(block) :]
    return changed if changed != data else data[:at]
