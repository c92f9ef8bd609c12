"""The walk over a graph: from some roots towards the leaves, latest function first.

Gradients flow in a dict of the walk's own, from edge to gradient (see core.graph.variable_node):
arrays in an ordinary backward, Variables when the graph of the backward is wanted. So walks do not
disturb each other, and an exception leaves nothing behind. The next function is the pending one
that was made last; a heap is needed only where paths branch. Leaves get their gradients in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

from core.arrays.backend import BACKENDS
from core.arrays.spec import spec_of
from core.errors import GraphError
from core.graph.graph_node import GraphNode
from core.graph.variable import Variable, as_variable, check_grad, creator_of, wrap
from core.graph.variable_node import Edge
from core.registry.configuration import State, current, using_config

Gradients = dict[Edge, Any]


class Walk:
    """One walk: from the roots towards the leaves, or towards the edges in `required` alone."""

    def __init__(
        self,
        roots: Sequence[tuple[Edge, Any]],
        *,
        graph: bool = False,
        retain_grad: bool = False,
        free: bool = False,
        required: set[Edge] | None = None,
        keep: frozenset[Edge] = frozenset(),
    ) -> None:
        self.state: State = current()
        self.graph = graph
        self.retain_grad = retain_grad
        self.required = required
        self.keep = keep
        self.roots = {edge for edge, _ in roots}
        self.freed = self.roots if free else set()
        self.given = () if graph else [g for _, g in roots]
        self.gradients: Gradients = {}
        self.leaves: list[Edge] = []
        self.queued: set[GraphNode] = set()
        self.heap: list[tuple[int, GraphNode]] = []
        for edge, g in roots:
            self._start(edge, g)

    def _start(self, edge: Edge, g: Any) -> None:
        old = self.gradients.get(edge)
        self.gradients[edge] = g if old is None else old + g
        f = creator_of(edge)
        if f is None:
            self.leaves.append(edge)
        elif f not in self.queued:
            self.queued.add(f)
            heappush(self.heap, (-f.sequence, f))

    def run(self) -> None:
        """Walk until nothing is pending."""
        gradients, graph, queued, leaves = self.gradients, self.graph, self.queued, self.leaves
        get, pop, heap, freed = gradients.get, gradients.pop, self.heap, self.freed
        plain = not (self.state.slow or self.retain_grad)
        required = self.required
        owned: set[Edge] = set()
        f: Any = heappop(heap)[1]
        first = f
        cotangent: Any = gradients[f] if f._single else None
        e: Any
        while True:
            edges = f._edges
            if edges is None:
                raise GraphError(
                    f"backward: the graph was cut at {f.label} while it was walked over. "
                    "Compute the forward pass again."
                )
            rules = (f._plain_var if graph else f._plain_raw) if plain else None
            if rules is None and f is first and plain and f._single and not f._local_hooks:
                rules = f._var if graph else f._raw  # a root keeps the gradient it was given
            if rules is not None:
                want = f.want if required is None else self._want_towards(f, cotangent)
                found = rules(f, cotangent, want) if want else ()
            else:
                if cotangent is not None:
                    gradients[f] = cotangent
                found = self._step(f)
            if freed:
                self._free(f)
            # The next function is most often an input of this one: its gradient stays at hand.
            pending = cotangent = None
            for e, g in zip(edges, found):  # noqa: B905 - rules are held to one gradient an input
                if g is None:
                    continue
                if e is pending:
                    cotangent = cotangent + g
                    continue
                old = get(e)
                if old is not None:
                    if graph or e not in owned:
                        gradients[e] = old + g
                        owned.add(e)
                    else:  # in place, into a sum that this walk made itself
                        old += g
                        gradients[e] = old
                    continue
                inner = e._edges
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
                    pending, cotangent = e, g
                else:
                    gradients[e] = g
                    heappush(heap, (-e.sequence, e))
            found = g = old = None  # gradients do not outlive their use
            if not heap:
                if pending is None:
                    return
                f = pending
            elif pending is None or -heap[0][0] > pending.sequence:
                if pending is not None:
                    gradients[pending] = cotangent
                    heappush(heap, (-pending.sequence, pending))
                f = heappop(heap)[1]
                cotangent = pop(f, None)
            else:
                f = pending

    def _want_towards(self, f: GraphNode, g: Any) -> int:
        """Which inputs lead to a target; the gradient of a target itself is kept."""
        if f in self.keep:
            self.gradients[f] = g
        required: Any = self.required
        return f.want & sum([1 << i for i, edge in enumerate(f._edges) if edge in required])

    def _free(self, f: Any) -> None:
        """Cut a root off what it was computed from: nobody but this walk holds that any more."""
        self.queued.discard(f)
        if f._single and f in self.freed:
            f.unchain()
            for name in f.declared.saved:
                setattr(f, name, None)
        elif not f._single:
            for node in [reference() for reference in f.outputs]:
                if node in self.freed:
                    node.unchain()

    # ------------------------------------------------------------------ a step with everything

    def _step(self, f: GraphNode) -> Sequence[Any]:
        """One function, whatever it is: several outputs, hooks, debug mode, chosen targets."""
        outputs = [f] if f._single else [reference() for reference in f.outputs]
        cotangents = tuple([self._cotangent(edge) for edge in outputs])
        wanted = [i for i, edge in enumerate(f._edges) if self._wants(edge)]
        found: Sequence[Any] = (None,) * len(f._edges)
        if wanted:
            found = self._differentiate(f, cotangents, wanted)
        self._hand_over(outputs)
        return found

    def _cotangent(self, edge: Any) -> Any:
        """The gradient of an output; of one that nothing reached, its variable's own."""
        if edge is None:
            return None
        if edge in self.gradients:
            return self.gradients[edge]
        g = edge._grad
        if g is None or isinstance(g, Variable) == self.graph:
            return g
        return wrap(g) if self.graph else g.array

    def _wants(self, edge: Any) -> bool:
        if self.required is not None and edge not in self.required:
            return False
        return edge.is_function or not edge._constant

    def _differentiate(
        self, f: GraphNode, cotangents: tuple[Any, ...], wanted: list[int]
    ) -> Sequence[Any]:
        rules = f._var if self.graph else f._raw
        hooks = f._hooks(self.state)
        if rules is not None and not hooks and not self.state.debug:
            return self._by_rules(f, rules, cotangents, wanted)
        if self.state.debug:
            from core.graph.debug import refuse_changed

            refuse_changed(f)
        seen: Any = ()
        if hooks:
            seen = (
                tuple([edge.data for edge in f._edges]),
                tuple([g.array if isinstance(g, Variable) else g for g in cotangents]),
            )
        with using_config("enable_backprop", self.graph):
            for hook in hooks:
                hook.backward_preprocess(f, *seen)
            if rules is not None:
                found = self._by_rules(f, rules, cotangents, wanted)
            else:
                found = self._by_backward(f, cotangents, wanted)
            for hook in hooks:
                hook.backward_postprocess(f, *seen)
        if self.state.debug:
            from core.graph.debug import refuse_nan

            arrays = [g.array if isinstance(g, Variable) else g for g in found]
            refuse_nan(f, arrays, "backward")
        return found

    def _by_rules(
        self, f: GraphNode, rules: Any, cotangents: tuple[Any, ...], wanted: list[int]
    ) -> Sequence[Any]:
        """Through the declared rules; nothing is found where no gradient came."""
        if not any([g is not None for g in cotangents]):
            return (None,) * len(f._edges)
        want = sum([1 << i for i in wanted])
        return self._checked(f, rules(f, cotangents[0] if f._single else cotangents, want))

    def _by_backward(self, f: Any, cotangents: tuple[Any, ...], wanted: list[int]) -> Sequence[Any]:
        """Through the general `backward`, which takes and gives Variables."""
        given = tuple([g if g is None or isinstance(g, Variable) else wrap(g) for g in cotangents])
        part = f.backward_accumulate(tuple(wanted), given, (None,) * len(wanted))
        found: list[Any] = [None] * len(f._edges)
        for i, g in zip(wanted, part, strict=True):
            if g is not None:
                found[i] = g if self.graph else as_variable(g).array
        return self._checked(f, found)

    def _checked(self, f: GraphNode, found: Sequence[Any]) -> Sequence[Any]:
        for i, (edge, g) in enumerate(zip(f._edges, found, strict=True)):
            if g is not None and edge.spec is not None and tuple(g.shape) != edge.spec.shape:
                raise ValueError(
                    f"{f.label}: expected a gradient of shape {edge.spec.shape} for input {i}, "
                    f"got {tuple(g.shape)}"
                )
            if g is not None and edge.spec is not None and g.dtype != edge.spec.dtype:
                raise TypeError(
                    f"{f.label}: expected a gradient of dtype {edge.spec.name} for input {i}, "
                    f"got {g.dtype}"
                )
        return found

    def _hand_over(self, outputs: Sequence[Any]) -> None:
        """Gradients of variables in between go to them if asked for, and are gone else."""
        for edge in outputs:
            if edge is None:
                continue
            keeps = edge in self.keep
            g = self.gradients.get(edge) if keeps else self.gradients.pop(edge, None)
            if edge in self.roots:
                continue
            if self.retain_grad:
                edge.set_grad(g if self.graph or g is None else own_array(g, edge))
            elif self.required is None:
                edge._grad = None

    # ------------------------------------------------------------------ the end

    def settle(self, loss_scale: float | None = None) -> None:
        """Give the leaves their gradients: no array twice, none that the caller holds."""
        given = {id(_base(g)) for g in self.given}
        ready = []
        for edge in self.leaves:
            g: Any = self.gradients[edge]
            old: Any = edge._grad
            if not edge.is_function and edge._variable() is None:  # type: ignore[union-attr]
                continue
            if self.graph:
                total = g if old is None else _as_graph(old) + g
            else:
                total = own_array(g, edge)
                if spec_of(total) is not edge.spec:
                    check_grad(edge, total)
                if old is not None:
                    old = old.array if isinstance(old, Variable) else old
                    total = own_array(old + total, edge)
                memory = id(_base(total))
                if memory in given:
                    total = BACKENDS[type(total)].copy(total)
                    memory = id(total)
                given.add(memory)
            ready.append((edge, total))
        for edge, total in ready:
            edge._grad = total
            if loss_scale is not None and not edge.is_function:
                edge.get_variable().loss_scale = loss_scale  # type: ignore[union-attr]


def _as_graph(g: Any) -> Variable:
    return g if isinstance(g, Variable) else wrap(g)


def own_array(g: Any, edge: Any) -> Any:
    """A gradient as an array of the edge's backend, where a library made a scalar of it."""
    spec = edge.spec
    return g if spec is None or type(g) is spec.type else spec.backend.asarray(g)


def _base(array: Any) -> Any:
    """The array whose memory a view shows, as far as the library tells."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array
