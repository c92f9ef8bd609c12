"""Names with an underscore that programs took from Chainer's modules all the same."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, MutableMapping
from functools import reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import plugrad_chainer

from core import FunctionNode, as_array, dataset, initializers, serializers
from core import functions as F
from core.compat import type_check
from core.link.hook import ForwardArgs
from core.link.initializer import as_initializer
from core.registry.configuration import current_state, install_hooks
from plugins.extras import need
from plugins.training.extensions.snapshot_files import found

ForwardPreprocessCallbackArgs = ForwardPostprocessCallbackArgs = ForwardArgs

version = SimpleNamespace(__version__=plugrad_chainer.version())


class HooksInForce(MutableMapping[str, Any]):
    """The hooks of functions or of links in this thread, by name; one that is set is in force."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def _now(self) -> Mapping[str, Any]:
        return getattr(current_state(), self._kind)  # type: ignore[no-any-return]

    def __getitem__(self, name: str) -> Any:
        return self._now()[name]

    def __setitem__(self, name: str, hook: Any) -> None:
        install_hooks(self._kind, {**self._now(), name: hook})

    def __delitem__(self, name: str) -> None:
        others = dict(self._now())
        del others[name]
        install_hooks(self._kind, others)

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def __repr__(self) -> str:
        return repr(dict(self._now()))


def get_link_hooks() -> HooksInForce:
    """The hooks in force of all links, by their names; programs add to them."""
    return HooksInForce("link_hooks")


def get_function_hooks() -> HooksInForce:
    """The hooks in force of all functions, likewise."""
    return HooksInForce("hooks")


def get_initializer(initializer: Any, scale: float = 1.0) -> Any:
    """The initializer that a number, an array, an initializer or None stands for.

    Version 1 multiplied what it gives by a scale.
    """
    if initializer is None:
        return initializers.LeCunNormal(scale)
    if scale == 1:
        return as_initializer(initializer)
    if callable(initializer):
        return Scaled(initializer, scale)
    return as_initializer(initializer * scale)


class Scaled(initializers.Initializer):
    """Fills arrays as another initializer does, times a number."""

    def __init__(self, initializer: Any, scale: float) -> None:
        super().__init__(getattr(initializer, "dtype", None))
        self.initializer, self.scale = initializer, scale

    def __call__(self, array: Any) -> None:
        """Fill the array."""
        self.initializer(array)
        array *= self.scale


def concat_arrays(arrays: Any, padding: Any) -> Any:
    """Arrays, or numbers, with a new first axis, filled up by `padding` where that is not None."""
    listed = [np.asarray(each) if isinstance(each, tuple | list) else each for each in arrays]
    return dataset.concat_examples(listed, padding=padding)


class Pooling2D(FunctionNode):
    """Base of a program's own poolings: the sizes of windows as Chainer's poolings keep them."""

    def __init__(
        self,
        ksize: Any,
        stride: Any = None,
        pad: Any = 0,
        cover_all: bool = True,
        return_indices: bool = False,
    ) -> None:
        self.kh, self.kw = pair(ksize)
        self.sy, self.sx = pair(ksize if stride is None else stride)
        self.ph, self.pw = pair(pad)
        self.cover_all, self.return_indices = cover_all, return_indices

    def check_type_forward(self, in_types: Any) -> None:
        """One floating input of images."""
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        type_check.expect(in_types[0].ndim == 4)


def pair(x: Any) -> Any:
    """Two numbers as they are; one number twice."""
    return x if hasattr(x, "__getitem__") else (x, x)


def as_mat(x: Any) -> Any:
    """An array with two axes: all but the first become one."""
    return x if x.ndim == 2 else x.reshape(len(x), -1)


def stack_weight(ws: Any) -> Any:
    """Weights of gates with their rows interleaved."""
    stacked = F.stack(ws, axis=1)
    return F.reshape(stacked, (-1, *stacked.shape[2:]))


def max_pooling_2d(x: Any) -> Any:
    """The pooling of VGG's networks."""
    return F.max_pooling_2d(x, ksize=2)


def average_pooling_2d(x: Any) -> Any:
    """The last pooling of GoogLeNet."""
    return F.average_pooling_2d(x, ksize=7, stride=1)


def extract_gates(x: Any, n_split: int = 4) -> list[Any]:
    """The columns of each gate, which lie interleaved."""
    return [x[:, gate::n_split] for gate in range(n_split)]


def roi_pooling_slice(size: int, stride: float, max_size: int, roi_offset: int) -> Any:
    """The elements under a bin of a region, cut at the image's edge: a slice, and how many."""
    edges = math.floor(size * stride), math.ceil((size + 1) * stride)
    first, last = (min(max(edge + roi_offset, 0), max_size) for edge in edges)
    return slice(first, last), last - first


def sum_sqnorm(arrays: Any) -> float:
    """The sum of the squares of all elements of all arrays."""
    return reduce(lambda total, x: total + float((x * x).sum()), map(as_array, arrays), 0.0)


def read_image_as_array(path: Any, dtype: Any) -> Any:
    """The image in a file, (height, width) or (height, width, channels)."""
    with need("PIL.Image", "image", "read_image_as_array").open(path) as image:
        return np.asarray(image, dtype=dtype)


def postprocess_image(image: Any) -> Any:
    """An image with its channels first, of which a grey one gets one."""
    return (image[..., None] if image.ndim == 2 else image).transpose(2, 0, 1)


def check_pillow_availability() -> None:
    """Raise an error that says what to install, where Pillow is not installed."""
    need("PIL.Image", "image", "check_pillow_availability")


def global_average_pooling_2d(x: Any) -> Any:
    """The mean of each channel of images, (n, channels)."""
    return F.reshape(F.average_pooling_2d(x, x.shape[2:], stride=1), x.shape[:2])


def snapshot_object(trainer: Any, target: Any, filename: Any, savefun: Any) -> None:
    """Save `target` in the trainer's folder, in a file that stands only when it is whole."""
    name = filename(trainer) if callable(filename) else filename.format(trainer)
    path = Path(trainer.out, name)
    part = path.with_name(f"tmp{path.name}")
    (savefun or serializers.save_npz)(part, target)
    os.replace(part, path)


def find_snapshot_files(fmt: str, path: Any) -> list[tuple[float, str]]:
    """The files whose names the format string gives, each with its time, the oldest first."""
    return [(file.stat().st_mtime, file.name) for file in found(Path(path), fmt)]


def find_latest_snapshot(fmt: str, path: Any) -> str | None:
    """The name of the newest of them; None if there is none."""
    files = find_snapshot_files(fmt, path)
    return files[-1][1] if files else None
