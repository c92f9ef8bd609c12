"""The end of a walk: the leaves get their gradients, added to those that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.arrays.backend import BACKENDS
from core.arrays.spec import ensure_array, spec_of
from core.graph.accumulate import adds_in_place
from core.graph.fitting import check_grad
from core.graph.variable import Variable, as_array, as_variable

if TYPE_CHECKING:
    from core.graph.walk import Walk


def deliver(walk: Walk, loss_scale: float | None = None) -> None:
    """Give the leaves their gradients: no array twice, none that the caller holds.

    An old gradient that nobody else holds is added to in place, once all have been checked.
    """
    given = {_memory(g) for g in walk.given}
    ready, sums = [], []
    for source in walk.leaves:
        g: Any = walk.gradients[source]
        has_old = source._grad is not None
        if not source.is_function and source._variable() is None:  # type: ignore[union-attr]
            continue
        if walk.graph:
            total = as_variable(source._grad) + g if has_old else g
        else:
            total = ensure_array(g, source.spec)
            if spec_of(total) is not source.spec:
                check_grad(source.spec, source._name, total)
            if has_old and adds_in_place(source):
                sums.append((source, total))
                continue
            if has_old:
                total = ensure_array(as_array(source._grad) + total, source.spec)
            memory = _memory(total)
            if memory in given:
                total = BACKENDS[type(total)].copy(total)
                memory = _memory(total)
            given.add(memory)
        ready.append((source, total))
    for source, g in sums:
        ready.append((source, BACKENDS[type(g)].add_in_place(source._grad, g)))
    Variable._scaled |= loss_scale is not None
    for source, total in ready:
        source._grad = total
        if Variable._scaled and not source.is_function:
            source.get_variable().loss_scale = loss_scale  # type: ignore[union-attr]


def _memory(array: Any) -> int:
    """What tells whose memory an array shows."""
    return BACKENDS[type(array)].memory(array)
