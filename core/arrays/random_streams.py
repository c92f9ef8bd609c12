"""Random numbers: what a backend draws, and the counter-based stream that `core.seed` installs.

Until `core.seed(n)` is called (or PLUGRAD_SEED is set) NumPy's global generator decides, so that
`np.random.seed` fixes weights and masks as it does in existing scripts. Afterwards every draw, on
any backend, is a block of the Philox generator of its own, keyed by the seed and the number of
draws before it. The stream's state is these two integers: saving, resuming and replaying are exact.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from core.errors.scalars import is_whole
from core.registry.backends import known

_WORD = (1 << 64) - 1


class Stream:
    """The seed and how many draws have been made from it."""

    def __init__(self, seed: int, draws: int = 0) -> None:
        self.seed = seed
        self.draws = draws
        self._lock = threading.Lock()

    def next_key(self) -> int:
        """The 128-bit Philox key of the next draw: the seed below, the number of the draw above."""
        with self._lock:
            draw, self.draws = self.draws, self.draws + 1
        return (self.seed & _WORD) | ((draw & _WORD) << 64)

    def get_state(self) -> dict[str, int]:
        """The two integers."""
        return {"seed": self.seed, "draws": self.draws}


_installed: list[Stream | None] = [None]


def stream() -> Stream | None:
    """The installed stream, or None while the global generators decide."""
    return _installed[0]


def seed(n: int | None) -> None:
    """Let every backend draw from one counter-based stream that starts at `n`.

    Any integer is a seed. The same seed gives the same weights, masks and orders on every run.
    `seed(None)` removes the stream: NumPy's global generator decides again.

    >>> import core, core.links as L
    >>> core.seed(0)
    >>> first = L.Linear(3, 2).W.array
    >>> core.seed(0)
    >>> bool((L.Linear(3, 2).W.array == first).all())
    True
    >>> core.seed(None)
    """
    if n is not None and (isinstance(n, bool) or not is_whole(n)):
        raise TypeError(f"seed: expected an integer or None, got {n!r}.")
    _installed[0] = None if n is None else Stream(n.__index__())


def _seed_from_environment() -> None:
    text = os.environ.get("PLUGRAD_SEED", "").strip()
    if text:
        try:
            seed(int(text))
        except ValueError:
            raise ValueError(f"PLUGRAD_SEED: expected an integer, got {text!r}.") from None


def set_stream_state(state: dict[str, int] | None) -> None:
    """Install the stream that `Stream.get_state` described; None removes it."""
    _installed[0] = None if state is None else Stream(int(state["seed"]), int(state["draws"]))


class Random:
    """What a backend draws: unless it does better, what the host draws, copied over.

    Shapes are tuples, dtypes names or dtype objects of the backend. `device` is anything that the
    backend's `asarray` takes as a device; None is its default. A backend that draws itself
    overrides all five methods.
    """

    def __init__(self, backend: Any = None) -> None:
        self._backend = backend

    def _drawn(self, name: str, *what: Any, device: Any) -> Any:
        drawn = getattr(known.host().random, name)(*what)
        return self._backend.asarray(drawn, device=device)

    def _name(self, dtype: Any) -> str:
        return dtype if isinstance(dtype, str) else self._backend.dtype_name(dtype)

    def normal(self, shape: Any = (), dtype: Any = "float32", *, device: Any = None) -> Any:
        """Draws from the normal distribution of mean 0 and standard deviation 1."""
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
        """Draws from [low, high), every value as likely as any other."""
        return self._drawn("uniform", shape, self._name(dtype), low, high, device=device)

    def bernoulli(self, p: float, shape: Any = (), *, device: Any = None) -> Any:
        """Booleans that are True with probability `p`."""
        return self._drawn("bernoulli", p, shape, device=device)

    def permutation(self, n: int, *, device: Any = None) -> Any:
        """The integers 0 to n-1 in random order."""
        return self._drawn("permutation", n, device=device)

    def integers(self, low: int, high: int, shape: Any = (), *, device: Any = None) -> Any:
        """Integers from `low` to `high` - 1."""
        return self._drawn("integers", low, high, shape, device=device)

    def get_state(self) -> dict[str, Any]:
        """What this object holds beside the shared stream, as plain values that JSON can write."""
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        """Put back what `get_state` gave."""


_seed_from_environment()
