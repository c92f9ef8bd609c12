"""Random booleans by Philox4x32-10, a counter-based generator.

Its key is the seed of the random stream; its counter is the number of the draw and the place in it.
So a mask follows from the stream's two numbers, in whatever parts and order it is computed.

Source: Salmon et al. 2011 (SC11), "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    Read1,
    Real,
    Write1,
    compiled,
    contiguous,
    inlined,
    number,
    suits,
)

LEAST = 8  # blocks of a part
BLOCK = 4096  # elements; four numbers come of one counter, one for each quarter of a block
QUARTER = BLOCK // 4
ZERO = number(0)

_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
_HALF = np.uint64(32)
_ROUNDS = 10


@inlined
def philox(a: Any, b: Any, c: Any, d: Any, key: Any, other: Any) -> Any:
    """Four random words of 32 bits for a counter of four words and a key of two."""
    for _ in range(_ROUNDS):
        p, q = np.uint64(a) * _FACTORS[0], np.uint64(c) * _FACTORS[1]
        a, c = np.uint32(q >> _HALF) ^ b ^ key, np.uint32(p >> _HALF) ^ d ^ other
        b, d = np.uint32(q), np.uint32(p)
        key, other = np.uint32(key + _STEPS[0]), np.uint32(other + _STEPS[1])
    return a, b, c, d


@inlined
def fill(words: Any, block: Any, key: Any, other: Any, low: Any, high: Any) -> None:
    """The words of a block of draw (low, high)."""
    first, second = words[:QUARTER], words[QUARTER : 2 * QUARTER]
    third, fourth = words[2 * QUARTER : 3 * QUARTER], words[3 * QUARTER :]
    at = np.uint64(block) * np.uint64(QUARTER)
    for i in range(QUARTER):
        place = at + np.uint64(i)
        first[i], second[i], third[i], fourth[i] = philox(
            np.uint32(place), np.uint32(place >> _HALF), low, high, key, other
        )


@compiled
def _bernoulli(
    kept: Write1, dropped: int, key: int, other: int, low: int, high: int, start: int, stop: int
) -> None:
    words, least = np.empty(BLOCK, np.uint32), np.uint32(dropped)
    for block in range(start, stop):
        fill(words, block, np.uint32(key), np.uint32(other), np.uint32(low), np.uint32(high))
        part = kept[block * BLOCK : (block + 1) * BLOCK]
        for i in range(part.size):
            part[i] = words[i] >= least


@compiled
def _dropout(
    x: Read1, mask: Write1, y: Write1, scale: Real, dropped: int,
    key: int, other: int, low: int, high: int, start: int, stop: int,
) -> None:  # fmt: skip
    words, least = np.empty(BLOCK, np.uint32), np.uint32(dropped)
    for block in range(start, stop):
        fill(words, block, np.uint32(key), np.uint32(other), np.uint32(low), np.uint32(high))
        begin, end = block * BLOCK, (block + 1) * BLOCK
        xs, ms, ys = x[begin:end], mask[begin:end], y[begin:end]
        for i in range(xs.size):
            m = scale if words[i] >= least else ZERO
            ms[i] = m
            ys[i] = xs[i] * m


def _run(loop: Any, size: int, *args: Any, key: int) -> None:
    """A loop over all blocks of a draw."""
    words = [key >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)]
    parallel.divide(loop, -(-size // BLOCK), LEAST, *args, *words)


def _dropped(p: float) -> int:
    """How many of the 2^32 words are none of those that come with probability p."""
    return round((1.0 - p) * 2**32)


def bernoulli(p: float, shape: Any, key: int) -> Any:
    """Booleans, True with probability p."""
    kept, dropped = np.zeros(shape, bool), _dropped(p)
    if dropped < 2**32:
        _run(_bernoulli, kept.size, kept.reshape(-1).view("uint8"), dropped, key=key)
    return kept


def dropout(f: Any, xp: Any, x: Any) -> Any:
    """X times a mask that is drawn, as `bernoulli` draws it."""
    dropped = _dropped(1 - f.dropout_ratio)
    if f.mask is not None or not suits(x) or dropped == 2**32:
        return NotImplemented
    f.mask, y = (np.empty_like(x, order="C") for _ in range(2))
    scale = x.dtype.type(1) / x.dtype.type(1 - f.dropout_ratio)
    key = f.backend.random.next_key()
    _run(_dropout, x.size, *contiguous(x, f.mask, y), scale, dropped, key=key)
    return y
