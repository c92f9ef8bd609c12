"""The walk over a graph: from some roots towards the leaves, latest function first.

Gradients flow in a dict of the walk's own, from source to gradient (see core.graph.variable_node):
arrays in an ordinary backward, Variables when the graph of the backward is needed. So walks do not
disturb each other, and an exception leaves nothing behind. The next function is the pending one
that was made last; a heap is needed only where paths branch. Leaves get their gradients in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from operator import iadd
from typing import Any

from core.errors import GraphError
from core.graph import array_api
from core.graph.complete_step import complete_step
from core.graph.graph_node import GraphNode
from core.graph.history import creator_of
from core.graph.variable_node import Source
from core.registry.configuration import State, current_state


class Walk:
    """One walk from the roots towards the leaves.

    With `required`, of each function which inputs as a bit mask, it goes only there; the gradients
    of the sources in `keep` are kept. `gradients` is the dict that they are put in, where somebody
    looks on.
    """

    def __init__(
        self,
        roots: Sequence[tuple[Source, Any]],
        *,
        graph: bool = False,
        retain_grad: bool = False,
        free: bool = False,
        required: dict[GraphNode, int] | None = None,
        keep: frozenset[Source] = frozenset(),
        gradients: dict[Source, Any] | None = None,
    ) -> None:
        self.state: State = current_state()
        self.graph = graph
        self.retain_grad = retain_grad
        self.required = required
        self.keep = keep
        self.roots = {source for source, _ in roots}
        self.freed = self.roots if free else set()
        self.given = [g for _, g in roots]
        self.gradients: dict[Source, Any] = {} if gradients is None else gradients
        self.leaves: list[Source] = []
        self.queued: set[GraphNode] = set()
        self.heap: list[tuple[int, GraphNode]] = []
        for source, g in roots:
            self._start(source, g)

    def _start(self, source: Source, g: Any) -> None:
        old = self.gradients.get(source)
        self.gradients[source] = g if old is None else old + g
        f = creator_of(source)
        if f is None:
            self.leaves.append(source)
        elif f not in self.queued:
            self.queued.add(f)
            heappush(self.heap, (-f.sequence, f))

    def run(self) -> None:  # noqa: C901 (a call for each step would cost as much as small ones)
        """Walk until nothing is pending."""
        gradients, graph, queued, leaves = self.gradients, self.graph, self.queued, self.leaves
        get, pop, heap, freed = gradients.get, gradients.pop, self.heap, self.freed
        plain = not (self.state.slow_path or self.retain_grad)
        required, keep = self.required, self.keep
        owned: set[Source] = set()
        # `iadd` is `+` for Variables, which have no addition in place.
        add_to: Any = array_api.functions.Add.add_to if graph and plain else iadd
        e: Any
        f: Any = heappop(heap)[1]
        first, sources = f, f._sources
        cotangent: Any = gradients[f] if f._single else None
        while True:
            if sources is None:
                raise GraphError(
                    f"backward: the graph was cut at {f.label} while it was walked over. "
                    "Compute the forward pass again."
                )
            short, raw, var = f._rules
            if not short and f is first and f._single and not f._local_hooks:
                short = raw is not None  # a root keeps the gradient it was given
            if not (short and plain):
                if cotangent is not None:
                    gradients[f] = cotangent
                found: Any = complete_step(self, f)
            elif required is None:
                found = (var if graph else raw)(f, cotangent)
            else:
                needs_grad = f.needs_grad & required.get(f, 0)
                if f in keep:
                    gradients[f] = cotangent
                found = (var if graph else raw)(f, cotangent, needs_grad) if needs_grad else ()
            if freed:
                self._free(f)
            # The next function is most often an input of this one: its gradient stays at hand.
            pending = cotangent = following = None
            i = 0  # `zip` costs as much as a small operation
            for g in found:
                e = sources[i]
                i += 1
                if g is None:
                    continue
                if e is pending:
                    cotangent = cotangent + g
                    continue
                old = get(e)
                if old is not None:
                    if e in owned:  # a sum that this walk made itself
                        gradients[e] = add_to(old, g)
                    else:
                        gradients[e] = old + g
                        owned.add(e)
                    continue
                inner = e._sources
                if inner is None:
                    gradients[e] = g
                    leaves.append(e)
                elif not inner:  # one of several outputs
                    gradients[e] = g
                    creator = e._creator
                    if creator not in queued:
                        queued.add(creator)
                        heappush(heap, (-creator.sequence, creator))
                elif pending is None:
                    pending, cotangent, following = e, g, inner
                else:
                    gradients[e] = g
                    heappush(heap, (-e.sequence, e))
            found = g = old = inner = creator = None  # these names do not outlive their use
            if not heap:
                if pending is None:
                    return
                f, sources = pending, following
            elif pending is None or -heap[0][0] > pending.sequence:
                if pending is not None:
                    gradients[pending] = cotangent
                    heappush(heap, (-pending.sequence, pending))
                f = heappop(heap)[1]
                cotangent, sources = pop(f, None), f._sources
            else:
                f, sources = pending, following

    def _free(self, f: Any) -> None:
        """Cut a root off what it was computed from: nobody but this walk holds that any more."""
        self.queued.discard(f)
        if f._single and f in self.freed:
            f.unchain()
            f._freed = True
            for name in f.declared.saved:
                setattr(f, name, None)
        elif not f._single:
            for node in [reference() for reference in f.outputs]:
                if node in self.freed:
                    node.unchain()
