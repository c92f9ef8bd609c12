"""Fourier transforms, windows, and the scale of mel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import (
    Refused,
    dtype_name,
    host,
    ints,
    like,
    plain,
    sized,
    xp_of,
)
from plugins.imported.operators.moving import padded


def _parts(x: Any) -> tuple[Any, Any]:
    """The real and the imaginary part, which the last axis has."""
    real = x[..., 0]
    return real, x[..., 1] if x.shape[-1] == 2 else xp_of(real).zeros_like(real)


def _fitted(x: Any, n: int) -> Any:
    """The last axis with n elements."""
    return padded(x, x.ndim - 1, 0, n - x.shape[-1])


def _mirrored(real: Any, imag: Any, n: int) -> tuple[Any, Any]:
    """A spectrum of n elements of its first half, that of real numbers."""
    half = n // 2 + 1
    back = slice(n - half, 0, -1) if n > half else slice(0, 0)
    real, imag = _fitted(real, half), _fitted(imag, half)
    joined = [F.concat([p, s * p[..., back]], axis=-1) for p, s in ((real, 1.0), (imag, -1.0))]
    return joined[0], joined[1]


@plain
def _dft(node: Any, x: Any, length: Any = None, axis: Any = None) -> Any:
    along = ints(axis)[0] if axis is not None else node.get("axis", 1 if node.opset < 20 else -2)
    along %= x.ndim
    inverse, half = bool(node.get("inverse", 0)), bool(node.get("onesided", 0))
    real, imag = (F.moveaxis(part, along, -1) for part in _parts(x))
    n = real.shape[-1] if length is None else ints(length)[0]
    if length is None and inverse and half:
        n = 2 * (n - 1)
    if n < 1:
        raise Refused(f"expected a length of at least 1, got {n}")
    sized((*real.shape[:-1], n))
    if inverse and half:
        found = [F.ifft(_mirrored(real, imag, n))[0]]
    else:
        transform = F.ifft if inverse else F.fft
        kept = n // 2 + 1 if half else n
        found = [part[..., :kept] for part in transform((_fitted(real, n), _fitted(imag, n)))]
    return F.stack([F.moveaxis(part, -1, along) for part in found], axis=-1)


@plain
def _stft(node: Any, x: Any, step: Any, window: Any = None, length: Any = None) -> Any:
    hop = ints(step)[0]
    n = ints(length)[0] if length is not None else window.shape[0]
    if hop < 1 or not 1 <= n <= x.shape[1]:
        raise Refused(f"expected frames within {x.shape[1]} samples, got {n} every {hop}")
    frames = 1 + (x.shape[1] - n) // hop
    sized((x.shape[0], frames, n))
    places = like(x, (np.arange(frames)[:, None] * hop + np.arange(n)).reshape(-1))
    if x.ndim == 2:
        x = F.reshape(x, (*x.shape, 1))
    parts = [
        F.reshape(xp_of(x).take(part, places, axis=1), (x.shape[0], frames, n))
        for part in _parts(x)
    ]
    if window is not None:
        missing = n - window.shape[0]
        window = padded(window, 0, missing // 2, missing - missing // 2)
        parts = [part * F.reshape(window, (1, 1, n)) for part in parts]
    kept = n // 2 + 1 if node.get("onesided", 1) else n
    found = [part[..., :kept] for part in F.fft((parts[0], parts[1]))]
    return F.stack(found, axis=-1)


def _window(*weights: float) -> Any:
    """A sum of cosines of multiples of one turn (Harris 1978)."""

    def operator(node: Any, size: Any) -> Any:
        (n,) = sized(ints(size))
        turns = np.arange(n) / max(n if node.get("periodic", 1) else n - 1, 1)
        found = sum([w * np.cos(2 * np.pi * i * turns) for i, w in enumerate(weights)])
        return like(size, np.asarray(found, dtype_name(node.get("output_datatype", 1))))

    return plain(operator)


@plain
def _mel(node: Any, bins: Any, length: Any, rate: Any, low: Any, high: Any) -> Any:
    """Triangles whose corners are equally far apart in mel (O'Shaughnessy 1987)."""
    (count,), (n,), (per_second,) = ints(bins), ints(length), ints(rate)
    spectrum, count = sized((n // 2 + 1, count))
    ends = [2595 * math.log10(1 + float(host(f).reshape(-1)[0]) / 700) for f in (low, high)]
    mels = ends[0] + np.arange(count + 2) * (ends[1] - ends[0]) / (count + 2)
    corners = ((n + 1) * 700 * (10 ** (mels / 2595) - 1) // per_second).astype(int)
    if corners.max(initial=0) > spectrum or corners.min(initial=0) < 0:
        raise Refused(f"expected frequencies within the spectrum of {spectrum} bins")
    found, at = np.zeros((spectrum, count)), np.arange(spectrum)
    for i, (a, b, c) in enumerate(zip(corners, corners[1:], corners[2:], strict=False)):
        if a == b:
            found[at == b, i] = 1
        else:
            rising = (a <= at) & (at <= b)
            found[rising, i] = (at[rising] - a) / (b - a)
        falling = (b <= at) & (at < c)
        found[falling, i] = (c - at[falling]) / max(c - b, 1)
    return like(bins, found.astype(dtype_name(node.get("output_datatype", 1))))


OPERATORS: dict[str, Any] = {
    "BlackmanWindow": _window(0.42, -0.5, 0.08),
    "DFT": _dft,
    "HammingWindow": _window(25 / 46, -21 / 46),
    "HannWindow": _window(0.5, -0.5),
    "MelWeightMatrix": _mel,
    "STFT": _stft,
}
