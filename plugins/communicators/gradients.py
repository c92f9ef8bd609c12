"""The gradients of a step, which is made at once or, where there is double buffering, later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.arrays import backend
from core.link import Parameter
from core.training import Buckets


@dataclass
class Gradients:
    """The gradients of a step to be made: sums under way, or what a file had of them."""

    scale: float | None
    """The loss scale that they were computed with."""
    sums: Buckets | None = None
    everywhere: int | None = None
    """As `Buckets.unpack` takes it."""
    loaded: Mapping[str, Any] = field(default_factory=dict)
    """By the paths of the parameters, where no sums are under way."""

    def wait(self) -> None:
        """Return when the sums have come to their end."""
        for bucket in [] if self.sums is None else self.sums.buckets:
            if bucket.pending is not None:
                bucket.pending.wait()

    def shown(self, named: Mapping[str, Parameter]) -> dict[str, Any]:
        """What this rank gets of them, on the host, by the paths of the parameters.

        Which parameters have a gradient on no rank is told when the step is made; until then, those
        that have none here, and a sum of zeros, are taken for such.
        """
        if self.sums is None:
            return dict(self.loaded)
        self.wait()
        found = {}
        for bucket in self.sums.buckets:
            part_of_sum = getattr(bucket.pending, "result", None)  # where parameters have owners
            buffer = backend.to_host(bucket.buffer if part_of_sum is None else part_of_sum)
            for slot in [slot for slot in bucket.slots if slot.is_here]:
                part = buffer[slot.start : slot.stop].reshape(slot.shape)
                if slot.mark or part.any():
                    name = slot.parameter.backend.dtype_name(slot.parameter.dtype)
                    found[id(slot.parameter)] = part.astype(backend.host().dtype(name))
        return {path: found[id(p)] for path, p in named.items() if id(p) in found}
