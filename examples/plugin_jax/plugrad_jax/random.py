"""Random numbers by JAX's keys: each draw has its own, from the seed and the number of the draw.

JAX has no generator of its own that would remember anything. While `core.seed` has installed no
stream, keys are drawn from NumPy's global generator, which `np.random.seed` fixes and snapshots
have.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from core.arrays.backend import Random
from core.arrays.random_streams import stream


class JaxRandom(Random):
    """Draws on the device."""

    def _key(self) -> Any:
        installed = stream()
        if installed is None:
            return jax.random.key(int.from_bytes(np.random.bytes(8), "little") >> 1)
        mixed = blake2b(installed.next_key().to_bytes(16, "little"), digest_size=8).digest()
        return jax.random.key(int.from_bytes(mixed, "little") >> 1)

    def _placed(self, array: Any, device: Any) -> Any:
        return array if device is None else self._backend.to_device(array, device)

    def normal(self, shape: Any = (), dtype: Any = "float32", *, device: Any = None) -> Any:
        """Standard normal draws."""
        drawn = jax.random.normal(self._key(), shape, self._backend.dtype(dtype))
        return self._placed(drawn, device)

    def uniform(
        self,
        shape: Any = (),
        dtype: Any = "float32",
        low: float = 0.0,
        high: float = 1.0,
        *,
        device: Any = None,
    ) -> Any:
        """Draws from [low, high); what rounding brings up to `high` goes back below it."""
        dtype = self._backend.dtype(dtype)
        drawn = jax.random.uniform(self._key(), shape, dtype, low, high)
        end = jnp.asarray(high, dtype)
        return self._placed(jnp.minimum(drawn, jnp.nextafter(end, jnp.asarray(low, dtype))), device)

    def bernoulli(self, p: float, shape: Any = (), *, device: Any = None) -> Any:
        """Truth values, True with probability `p`."""
        return self._placed(jax.random.bernoulli(self._key(), float(p), shape), device)

    def permutation(self, n: int, *, device: Any = None) -> Any:
        """The integers 0 to n - 1 in random order."""
        return self._placed(jax.random.permutation(self._key(), n), device)

    def integers(self, low: int, high: int, shape: Any = (), *, device: Any = None) -> Any:
        """Integers from `low` to `high` - 1."""
        return self._placed(jax.random.randint(self._key(), shape, low, high, "int64"), device)
