"""The common parts of losses with randomly drawn words."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

from core import Device, Link, Parameter
from core.compat.utils import WalkerAlias
from core.errors.kinds import checked


class Sampled(Link):
    """Vectors W of all words, and a sampler that draws words, which moves with the link."""

    @checked
    def __init__(
        self, in_size: int, weights: Sequence[float], sample_size: int, initializer: Any
    ) -> None:
        super().__init__()
        self.sample_size = sample_size
        self.sampler = WalkerAlias(weights)
        with self.init_scope():
            self.W = Parameter(initializer, (len(weights), in_size))

    def _move(self, device: Device) -> None:
        super()._move(device)
        # A copy: the sampler may be shared with a copy of the link that stays where it is.
        self.sampler = copy.copy(self.sampler).to_device(device)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """How many words are drawn."""
        yield "sample_size", self.sample_size, 0
