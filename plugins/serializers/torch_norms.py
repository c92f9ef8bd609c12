"""Weights that a PyTorch model keeps as length and direction (weight normalization), put together.

`torch.nn.utils.weight_norm` keeps of a `weight` the tensors `weight_g` and `weight_v`, and
`torch.nn.utils.parametrizations.weight_norm` has them as `parametrizations.weight.original0` and
`.original1`. The weight is g v / |v|, the norm over all axes along which g has one element
(Salimans and Kingma 2016, arXiv:1602.07868).
"""

from __future__ import annotations

import re

import numpy as np

from plugins.serializers.entries import Array

_LENGTHS = (
    (re.compile(r"(.*\bweight\w*)_g"), r"{}_v"),
    (re.compile(r"(.*)\bparametrizations\.(\w+)\.original0"), r"{}parametrizations.{}.original1"),
)


def put_together(tensors: dict[str, Array]) -> dict[str, Array]:
    """The tensors, each pair of length and direction as the one weight, where the first stood."""
    pairs = dict(filter(None, [_pair(name, tensors) for name in tensors]))
    directions = {direction for direction, _ in pairs.values()}
    found: dict[str, Array] = {}
    for name, tensor in tensors.items():
        if name in pairs:
            direction, whole = pairs[name]
            found[whole] = _weight(tensor, tensors[direction])
        elif name not in directions:
            found[name] = tensor
    return found


def _pair(name: str, tensors: dict[str, Array]) -> tuple[str, tuple[str, str]] | None:
    """For the name of a length, itself, the name of its direction and that of the weight."""
    for pattern, direction in _LENGTHS:
        match = pattern.fullmatch(name)
        other = match and direction.format(*match.groups())
        if match and other in tensors and _fit(tensors[name].shape, tensors[other].shape):
            return name, (other, "".join(match.groups()))
    return None


def _fit(length: tuple[int, ...], direction: tuple[int, ...]) -> bool:
    """Whether one has a single element, or one for each place along an axis of the other."""
    if not length:
        return True
    alike = len(length) == len(direction) and sum([n != 1 for n in length]) <= 1
    return alike and all([n in (1, m) for n, m in zip(length, direction, strict=True)])


def _weight(length: Array, direction: Array) -> Array:
    axes = tuple([i for i in range(direction.ndim) if not length.ndim or length.shape[i] == 1])
    wide = direction.astype(np.promote_types(direction.dtype, np.float32), copy=False)
    norm = np.sqrt(np.sum(wide * wide, axis=axes, keepdims=True))
    return np.asarray(length * (wide / norm)).astype(direction.dtype, copy=False)
