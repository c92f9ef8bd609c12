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
    """Give the leaves gradients of their own: none twice, none of the caller's, none read-only.

    An old gradient that nobody else holds is added to in place, once all have been checked.
    """
    given = {memory(as_array(g)) for g in walk.given}
    ready, sums = [], []
    for source in walk.leaves:
        g: Any = walk.gradients[source]
        has_old = source._grad is not None
        if not source.is_function and source._variable() is None:  # type: ignore[union-attr]
            continue
        if walk.graph:
            total = apart(as_variable(_old(source)) + g if has_old else g, given)
        else:
            total = ensure_array(g, source.spec)
            if spec_of(total) is not source.spec:
                check_grad(source.spec, source._name, total)
            if has_old and adds_in_place(source):
                sums.append((source, total))
                continue
            if has_old:
                total = ensure_array(as_array(_old(source)) + total, source.spec)
            shown = memory(total)
            if shown in given or (shown != id(total) and not BACKENDS[type(total)].writable(total)):
                total = BACKENDS[type(total)].copy(total)
            given.add(shown)
        ready.append((source, total))
    ready += [(s, BACKENDS[type(g)].add_in_place(s._grad, g)) for s, g in sums]
    if loss_scale is not None:  # else nothing is written: what Python remembers of a class would go
        Variable._scaled = True
    for source, total in ready:
        source._grad = total
        if Variable._scaled and not source.is_function:
            source.get_variable().loss_scale = loss_scale  # type: ignore[union-attr]


def _old(source: Any) -> Any:
    """The gradient that a leaf has; one of another form was left there when its array changed."""
    who = f"{source._name or 'a variable'} from before its array changed, which cleargrad() drops"
    return check_grad(source.spec, who, source._grad)


def apart(g: Any, given: set[int]) -> Any:
    """A gradient, or a copy of it where its memory is among those given, and it is from now on."""
    if memory(as_array(g)) in given:
        g = g.copy() if isinstance(g, Variable) else BACKENDS[type(g)].copy(g)
    given.add(memory(as_array(g)))
    return g


def memory(array: Any) -> int:
    """What tells whose memory an array shows."""
    return BACKENDS[type(array)].memory(array)
