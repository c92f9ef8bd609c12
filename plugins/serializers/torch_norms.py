"""Weights that a PyTorch model keeps in parts, put together.

Weight normalization keeps length and direction:

`torch.nn.utils.weight_norm` keeps of a `weight` the tensors `weight_g` and `weight_v`, and
`torch.nn.utils.parametrizations.weight_norm` has them as `parametrizations.weight.original0` and
`.original1`. The weight is g v / |v|, the norm over all axes along which g has one element
(Salimans and Kingma 2016, arXiv:1602.07868).

Spectral normalization keeps the weight before it is divided by its largest singular value, and what
the power iteration has found, u and v: `torch.nn.utils.spectral_norm` as `weight_orig`, `weight_u`
and `weight_v`, and `torch.nn.utils.parametrizations.spectral_norm` as
`parametrizations.weight.original`, `parametrizations.weight.0._u` and `._v`. The singular value is
u W v, with W as a matrix along the axis of which u has an element for each place (Miyato et al.
2018, arXiv:1802.05957).
"""

from __future__ import annotations

import re

import numpy as np

from plugins.serializers.entries import Array

_LENGTHS = (
    (re.compile(r"(.*\bweight\w*)_g"), r"{}_v"),
    (re.compile(r"(.*)\bparametrizations\.(\w+)\.original0"), r"{}parametrizations.{}.original1"),
)


_SPECTRAL = (
    (re.compile(r"(.*\bweight\w*)_orig"), r"{}_u", r"{}_v"),
    (
        re.compile(r"(.*)\bparametrizations\.(\w+)\.original"),
        r"{}parametrizations.{}.0._u",
        r"{}parametrizations.{}.0._v",
    ),
)


def put_together(tensors: dict[str, Array]) -> dict[str, Array]:
    """The tensors, the parts of a weight as the one weight, where the first stood."""
    return _lengths_applied(_spectra_applied(tensors))


def _spectra_applied(tensors: dict[str, Array]) -> dict[str, Array]:
    found, apart = dict[str, Array](), set[str]()
    for name, tensor in tensors.items():
        for pattern, *vectors in _SPECTRAL:
            match = pattern.fullmatch(name)
            u, v = [each.format(*match.groups()) if match else "" for each in vectors]
            if match and (divided := _divided(tensor, tensors.get(u), tensors.get(v))) is not None:
                found["".join(match.groups())] = divided
                apart |= {u, v}
                break
        else:
            found[name] = tensor
    return {name: tensor for name, tensor in found.items() if name not in apart}


def _divided(weight: Array, u: Array | None, v: Array | None) -> Array | None:
    """The weight over u W v; None where these are not such vectors, or do not tell the axis."""
    if u is None or v is None or weight.size != u.size * v.size:
        return None
    kind = np.promote_types(weight.dtype, np.float32)
    found = []
    for axis in (0, 1):  # of transposed convolutions it is the second one
        if axis < weight.ndim and weight.shape[axis] == u.size:
            rows = np.moveaxis(weight, axis, 0).reshape(u.size, -1).astype(kind, copy=False)
            found.append(u.astype(kind, copy=False) @ rows @ v.astype(kind, copy=False))
    # The largest singular value: along another axis u and v give less, but for chance.
    return (weight / max(found)).astype(weight.dtype) if found else None


def _lengths_applied(tensors: dict[str, Array]) -> dict[str, Array]:
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
