"""Random numbers on NumPy: its global generator until a stream is installed, Philox afterwards."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend.typing import Array
from core.arrays.random_streams import Random, stream
from core.errors import CheckpointError


class NumpyRandom(Random):
    """Draws as `core.arrays.random_streams` says; its state is that of `numpy.random`."""

    def normal(self, shape: Any = (), dtype: Any = "float32", *, device: Any = None) -> Array:
        """Standard normal draws."""
        generator = _keyed()
        draw = np.random.standard_normal if generator is None else generator.standard_normal
        return _in_blocks(draw, shape, dtype)

    def uniform(
        self,
        shape: Any = (),
        dtype: Any = "float32",
        low: float = 0.0,
        high: float = 1.0,
        *,
        device: Any = None,
    ) -> Array:
        """Draws from [low, high)."""
        dtype, generator = np.dtype(dtype), _keyed()

        def draw(shape: Any) -> Array:
            return _stretched(_unit(generator, shape, dtype), dtype, low, high)

        return _in_blocks(draw, shape, dtype)

    def bernoulli(self, p: float, shape: Any = (), *, device: Any = None) -> Array:
        """Booleans, True with probability `p`."""
        from backends.numpy_backend.kernels import compiler

        if prod(shape) >= compiler.SMALL and compiler.available():
            from backends.numpy_backend.kernels.compiled import noise

            return np.asarray(noise.bernoulli(p, shape, self.next_key()))
        return np.asarray(_unit(_keyed(), shape, np.dtype("float32")) >= 1.0 - p)

    def permutation(self, n: int, *, device: Any = None) -> Array:
        """The integers 0 to n-1 in random order."""
        generator = _keyed()
        drawn = np.random.permutation(n) if generator is None else generator.permutation(n)
        return np.asarray(drawn)

    def integers(self, low: int, high: int, shape: Any = (), *, device: Any = None) -> Array:
        """Integers from `low` to `high` - 1."""
        generator = _keyed()
        if generator is None:
            return np.asarray(np.random.randint(low, high, shape))
        return np.asarray(generator.integers(low, high, shape))

    def next_key(self) -> int:
        """128 bits for a draw by a generator of one's own: seed and number of the draw, if known.

        While NumPy's global generator decides, these are drawn from it.
        """
        installed = stream()
        if installed is not None:
            return installed.next_key()
        return int.from_bytes(np.random.bytes(16), "little")

    def get_state(self) -> dict[str, Any]:
        """The state of NumPy's global generator, with lists in place of arrays."""
        return dict(_plain(np.random.get_state(legacy=False)))

    def set_state(self, state: dict[str, Any]) -> None:
        """Put NumPy's global generator where `get_state` found it.

        Raises CheckpointError where the state is of another kind of generator.
        """
        try:
            np.random.set_state(state)
        except (TypeError, ValueError, KeyError) as error:
            raise CheckpointError(
                f"random state: this does not fit NumPy's global generator: {error}."
            ) from None


def _keyed() -> np.random.Generator | None:
    """A generator for one draw of the installed stream; None while the global one decides."""
    installed = stream()
    if installed is None:
        return None
    return np.random.Generator(np.random.Philox(key=installed.next_key()))


_BLOCK = 1 << 14
"""Draws whose float64 stay in the cache until they are rounded; memory for all would be slower."""


def _in_blocks(draw: Callable[[Any], Any], shape: Any, dtype: Any) -> Array:
    """What one draw of this shape gives, drawn one block after the other."""
    count = prod(shape) if isinstance(shape, tuple) else 0
    if count <= _BLOCK:
        return np.asarray(draw(shape)).astype(dtype, copy=False)
    drawn = np.empty(shape, dtype=dtype)
    flat = drawn.reshape(-1)
    for start in range(0, count, _BLOCK):
        block = flat[start : start + _BLOCK]
        block[...] = draw(block.shape)
    return drawn


def _unit(generator: np.random.Generator | None, shape: Any, dtype: np.dtype[Any]) -> Array:
    """Draws from [0, 1): float32 ones for the 16-bit dtypes and float32, else float64."""
    if generator is None:
        return np.asarray(np.random.random_sample(shape))
    single = dtype.itemsize <= 4
    return np.asarray(generator.random(shape, dtype=np.float32 if single else np.float64))


def _stretched(unit: Array, dtype: np.dtype[Any], low: float, high: float) -> Array:
    """[0, 1) to [low, high) in `dtype`; what rounding brings up to `high` goes back below it."""
    drawn = (unit if (low, high) == (0.0, 1.0) else unit * (high - low) + low).astype(dtype)
    return np.asarray(np.minimum(drawn, np.nextafter(dtype.type(high), dtype.type(low))))


def _plain(value: Any) -> Any:
    """The same value in what JSON can write."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value
