"""Gradients of a backward pass, which ranks begin to sum while the rest is still computed."""

from __future__ import annotations

from typing import Any

from core.arrays.spec import ensure_array
from core.graph.history import history_of
from core.training import Buckets


class Completed(dict[Any, Any]):
    """The gradients of a walk, which are packed as soon as they are complete.

    Each function of the graph adds to the gradient of a parameter at most as often as it takes it
    as an input; one that adds less leaves the gradient to be packed after the walk. Those of a rank
    that does not count, as its batch is empty, are packed as none.
    """

    def __init__(self, loss: Any, sums: Buckets, counts: bool) -> None:
        self._sums, self._counts = sums, counts
        self._parameters = {
            p._source: p for bucket in sums.buckets for p in bucket.parameters if p.grad is None
        }
        self._missing = dict.fromkeys(self._parameters, 0)
        for function in history_of([loss.creator_node]):
            for source in function._sources:
                if source in self._missing:
                    self._missing[source] += 1

    def __setitem__(self, source: Any, gradient: Any) -> None:
        super().__setitem__(source, gradient)
        if source in self._missing:
            self._missing[source] -= 1
            if not self._missing[source]:
                complete, parameter = ensure_array(gradient, source.spec), self._parameters[source]
                self._sums.pack(parameter, complete if self._counts else None)
                self._sums.go_on()
                nothing = source.spec.xp.zeros((), dtype=complete.dtype, device=complete.device)
                stand_in = source.spec.xp.broadcast_to(nothing, complete.shape)
                super().__setitem__(source, stand_in)  # its elements are in the buffer

    def forget(self) -> None:
        """Take the stand-ins away from the parameters."""
        for parameter in self._parameters.values():
            if self._sums.is_packed(parameter):
                parameter.cleargrad()
