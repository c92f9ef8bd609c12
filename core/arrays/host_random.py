"""Random numbers for backends without generators of their own: the host's."""

from __future__ import annotations

from typing import Any

from core.arrays.array_backend import Backend, known
from core.arrays.random_streams import Random


class HostRandom(Random):
    """Draws made on the host and copied over: the same numbers on any backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def _drawn(self, name: str, *what: Any, device: Any) -> Any:
        drawn = getattr(known.host().random, name)(*what)
        return self._backend.asarray(drawn, device=device)

    def _name(self, dtype: Any) -> str:
        return dtype if isinstance(dtype, str) else self._backend.dtype_name(dtype)

    def normal(self, shape: Any = (), dtype: Any = "float32", *, device: Any = None) -> Any:
        """Standard normal draws."""
        return self._drawn("normal", shape, self._name(dtype), device=device)

    def uniform(
        self,
        shape: Any = (),
        dtype: Any = "float32",
        low: float = 0.0,
        high: float = 1.0,
        *,
        device: Any = None,
    ) -> Any:
        """Draws from [low, high)."""
        return self._drawn("uniform", shape, self._name(dtype), low, high, device=device)

    def bernoulli(self, p: float, shape: Any = (), *, device: Any = None) -> Any:
        """Booleans, True with probability `p`."""
        return self._drawn("bernoulli", p, shape, device=device)

    def permutation(self, n: int, *, device: Any = None) -> Any:
        """The integers 0 to n-1 in random order."""
        return self._drawn("permutation", n, device=device)

    def integers(self, low: int, high: int, shape: Any = (), *, device: Any = None) -> Any:
        """Integers from `low` to `high` - 1."""
        return self._drawn("integers", low, high, shape, device=device)
