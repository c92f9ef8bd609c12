"""The end of a walk: the leaves get their gradients, added to those that they have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from core.arrays.backend import BACKENDS
from core.arrays.spec import ensure_array, spec_of
from core.errors import GraphError
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
    refuse_freed("backward", walk.leaves)
    for source in walk.leaves:
        if not source.is_function and source._variable() is None:  # type: ignore[union-attr]
            continue
        g, has_old = walk.gradients[source], source._grad is not None
        if walk.graph:
            total = as_variable(_old(source)) + g if has_old else g
        else:
            total = ensure_array(g, source.spec)
            if spec_of(total) is not source.spec:
                _check_found(source, total)
            if has_old and adds_in_place(source):
                sums.append((source, total))
                continue
            if has_old:
                total = ensure_array(as_array(_old(source)) + total, source.spec)
        ready.append((source, apart(total, given, writable=not walk.graph)))
    ready += [(s, BACKENDS[type(g)].add_in_place(s._grad, g)) for s, g in sums]
    if loss_scale is not None:  # else nothing is written: what Python remembers of a class would go
        Variable._scaled = True
    for source, total in ready:
        source._grad = total
        if Variable._scaled and not source.is_function:
            source.get_variable().loss_scale = loss_scale  # type: ignore[union-attr]


def refuse_freed(who: str, ends: Iterable[Any]) -> None:
    """Raise GraphError, in the name of `who`, where an end of a graph was the root of one."""
    for end in ends:
        if end.is_function and end._freed:
            raise GraphError(
                f"{who}: the graph of the result of {end.label} was freed by an earlier backward, "
                "with free_graph=True, as updaters and optimizer.update(lossfun, ...) do it. Leave "
                "free_graph out there, or compute the forward pass again."
            )


def _check_found(source: Any, g: Any) -> None:
    try:
        check_grad(source.spec, source._name, g)
    except (TypeError, ValueError) as error:
        error.add_note("With core.config.debug = True the operation that gave it is named.")
        raise


def _old(source: Any) -> Any:
    """The gradient that a leaf has; one of another form was left there when its array changed."""
    who = f"{source._name or 'a variable'} from before its array changed, which cleargrad() drops"
    return check_grad(source.spec, who, source._grad)


def apart(g: Any, given: set[int], writable: bool = False) -> Any:
    """A gradient, or a copy where its memory is among those given, as it is from now on.

    So it is where it is to be `writable` and shows memory that is not.
    """
    array = as_array(g)
    backend = BACKENDS[type(array)]
    own = backend.memory(array)
    if own in given or (writable and own != id(array) and not backend.writable(array)):
        g = g.copy() if isinstance(g, Variable) else backend.copy(g)
        own = memory(as_array(g))
    given.add(own)
    return g


def memory(array: Any) -> int:
    """What tells whose memory an array shows."""
    return BACKENDS[type(array)].memory(array)
