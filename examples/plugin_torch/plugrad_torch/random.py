"""Random numbers that are drawn where they are used, by PyTorch's generators."""

from __future__ import annotations

import base64
from hashlib import blake2b
from threading import local
from typing import Any

import torch

from core.arrays.backend import Random
from core.arrays.random_streams import stream
from core.errors import CheckpointError


class _Keyed(local):
    """The generators of a thread by device: between key and draw nobody else may key them."""

    def __init__(self) -> None:
        self.of: dict[torch.device, torch.Generator] = {}


class TorchRandom(Random):
    """Draws on the device: by PyTorch's own generators, or each by one that `core.seed` keys.

    `torch.manual_seed` fixes the former. Of the latter nothing is kept: the number of the draw and
    the seed are all that it follows from.
    """

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        self._keyed = _Keyed()

    def _place(self, device: Any) -> dict[str, Any]:
        """The device, and the generator of one draw."""
        place = self._backend.native_device(device)
        key = self._next_seed()
        if key is None:
            return {"device": place, "generator": None}
        generator = self._keyed.of.get(place)
        if generator is None:
            generator = self._keyed.of[place] = torch.Generator(place)
        return {"device": place, "generator": generator.manual_seed(key)}

    def _next_seed(self) -> int | None:
        """63 bits of the key of the stream's next draw; None while no stream decides."""
        installed = stream()
        if installed is None:
            return None
        mixed = blake2b(installed.next_key().to_bytes(16, "little"), digest_size=8).digest()
        return int.from_bytes(mixed, "little") >> 1

    def normal(self, shape: Any = (), dtype: Any = "float32", *, device: Any = None) -> Any:
        """Standard normal draws."""
        return torch.randn(shape, dtype=self._backend.dtype(dtype), **self._place(device))

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
        drawn = torch.rand(shape, dtype=self._backend.dtype(dtype), **self._place(device))
        if (low, high) == (0.0, 1.0):
            return drawn
        end = torch.tensor(high, dtype=drawn.dtype)
        below = torch.nextafter(end, torch.tensor(low, dtype=drawn.dtype)).item()
        return drawn.mul_(high - low).add_(low).clamp_(max=below)

    def bernoulli(self, p: float, shape: Any = (), *, device: Any = None) -> Any:
        """Truth values, True with probability `p`."""
        return torch.rand(shape, **self._place(device)) >= 1.0 - p

    def permutation(self, n: int, *, device: Any = None) -> Any:
        """The integers 0 to n - 1 in random order."""
        return torch.randperm(n, **self._place(device))

    def integers(self, low: int, high: int, shape: Any = (), *, device: Any = None) -> Any:
        """Integers from `low` to `high` - 1."""
        return torch.randint(low, high, shape, **self._place(device))

    def get_state(self) -> dict[str, Any]:
        """The states of PyTorch's own generators by device, as text."""
        every = self._backend.devices()
        return {d.id: _text(_keeper(d.id).get_rng_state(*_place(d.id))) for d in every}

    def set_state(self, state: dict[str, Any]) -> None:
        """Put the generators of the devices that are here where `get_state` found them.

        Raises CheckpointError where a state is no generator's.
        """
        here = {d.id for d in self._backend.devices()}
        for name, text in state.items():
            if name not in here:
                continue
            try:
                raw = bytearray(base64.b64decode(text, validate=True))
                state = torch.frombuffer(raw, dtype=torch.uint8)
                _keeper(name).set_rng_state(state, *_place(name))
            except (RuntimeError, TypeError, ValueError) as error:
                raise CheckpointError(f"random state: not one of torch:{name}: {error}.") from None


def _keeper(name: str) -> Any:
    """The module of PyTorch that keeps the generator of a device."""
    kind = torch.device(name).type
    return torch if kind == "cpu" else getattr(torch, kind)


def _place(name: str) -> tuple[str, ...]:
    """How that module is told of the device."""
    return () if name == "cpu" else (name,)


def _text(state: torch.Tensor) -> str:
    return base64.b64encode(state.numpy().tobytes()).decode()
