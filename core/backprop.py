"""Backpropagation: the one walk over a graph, behind `Variable.backward`, `backward` and `grad`.

Gradients flow in a dict of the walk's own, from edge to gradient (see core.variable_node): arrays
in an ordinary backward, Variables when the graph of the backward is wanted. So walks do not disturb
each other, and an exception leaves nothing behind. The next function is the pending one that was
made last; a heap is needed only where paths branch. Leaves get their gradients in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from core.backend import BACKENDS
from core.configuration import State, current, using_config
from core.errors import GraphError
from core.function_node import FunctionNode
from core.spec import spec_of
from core.variable import Variable, as_variable, check_grad, creator_of, wrap
from core.variable_node import Edge

Gradients = dict[Edge, Any]


def backward(outputs: Iterable[Variable], grad_outputs: Any = None, **options: Any) -> None:
    """Add to the gradients of the leaves behind several outputs, in one walk.

    `grad_outputs` has a Variable (or None) an output, in place of the outputs' own gradients; the
    keyword arguments are those of `Variable.backward`.

    >>> import core, numpy as np
    >>> x = core.Variable(np.full((), 3, "f"))
    >>> core.backward([x * 2, x * x])
    >>> x.grad
    array(8., dtype=float32)
    """
    outputs = list(outputs)
    if grad_outputs is not None:
        if len(grad_outputs) != len(outputs):
            raise ValueError(
                f"backward: expected {len(outputs)} grad_outputs, got {len(grad_outputs)}"
            )
        for y, gy in zip(outputs, grad_outputs, strict=True):
            if gy is not None:
                y.grad_var = gy
    backward_from(outputs, **options)


def backward_from(
    outputs: Sequence[Variable],
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
    free_graph: bool = False,
) -> None:
    """What `Variable.backward` does, from several variables at once."""
    graph = enable_double_backprop
    roots = []
    for y in outputs:
        edge = y._edge
        if edge is None:
            raise GraphError(
                "backward: this Variable wants no gradient, so nothing leads back from it. Was it "
                "made under no_backprop_mode(), by an operation without a derivative, or inside "
                "another backward? There, record it under core.force_backprop_mode()."
            )
        if creator_of(edge) is not None:
            roots.append((edge, _initial(y, graph, loss_scale)))
    if not roots:
        return
    walk = _Walk(roots, graph=graph, retain_grad=retain_grad, free=free_graph)
    del roots
    if graph and not walk.state.backprop:
        with using_config("enable_backprop", True):
            walk.run()
            walk.settle(loss_scale)
    else:
        walk.run()
        walk.settle(loss_scale)


Variable.backward_from = staticmethod(backward_from)


def _initial(y: Variable, graph: bool, loss_scale: float | None) -> Any:
    if y._grad is None:
        if y.size != 1:
            raise GraphError(
                f"backward: expected a gradient to start from for a Variable of shape {y.shape}, "
                "which has several elements. Set its grad first, or reduce it, as with F.sum."
            )
        y._grad = y.backend.asarray(y.xp.ones_like(y.array))
    if loss_scale is not None:
        y._grad = y._grad * loss_scale
        if not isinstance(y._grad, Variable):
            y._grad = y.backend.asarray(y._grad)
    return y.grad_var if graph else y.grad


class _Walk:
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
        self.queued: set[FunctionNode] = set()
        self.heap: list[tuple[int, FunctionNode]] = []
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

    def _want_towards(self, f: FunctionNode, g: Any) -> int:
        """Which inputs lead to a target; the gradient of a target itself is kept."""
        if f in self.keep:
            self.gradients[f] = g
        required: Any = self.required
        return f.want & sum([1 << i for i, edge in enumerate(f._edges) if edge in required])

    def _free(self, f: FunctionNode) -> None:
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

    def _step(self, f: FunctionNode) -> Sequence[Any]:
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
        self, f: FunctionNode, cotangents: tuple[Any, ...], wanted: list[int]
    ) -> Sequence[Any]:
        rules = f._var if self.graph else f._raw
        hooks = f._hooks(self.state)
        if rules is not None and not hooks and not self.state.debug:
            return self._by_rules(f, rules, cotangents, wanted)
        if self.state.debug:
            from core.debug import refuse_changed

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
            from core.debug import refuse_nan

            arrays = [g.array if isinstance(g, Variable) else g for g in found]
            refuse_nan(f, arrays, "backward")
        return found

    def _by_rules(
        self, f: FunctionNode, rules: Any, cotangents: tuple[Any, ...], wanted: list[int]
    ) -> Sequence[Any]:
        """Through the declared rules; nothing is found where no gradient came."""
        if not any([g is not None for g in cotangents]):
            return (None,) * len(f._edges)
        want = sum([1 << i for i in wanted])
        return self._checked(f, rules(f, cotangents[0] if f._single else cotangents, want))

    def _by_backward(
        self, f: FunctionNode, cotangents: tuple[Any, ...], wanted: list[int]
    ) -> Sequence[Any]:
        """Through the general `backward`, which takes and gives Variables."""
        given = tuple([g if g is None or isinstance(g, Variable) else wrap(g) for g in cotangents])
        part = f.backward_accumulate(tuple(wanted), given, (None,) * len(wanted))
        found: list[Any] = [None] * len(f._edges)
        for i, g in zip(wanted, part, strict=True):
            if g is not None:
                found[i] = g if self.graph else as_variable(g).array
        return self._checked(f, found)

    def _checked(self, f: FunctionNode, found: Sequence[Any]) -> Sequence[Any]:
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
                edge.set_grad(g if self.graph or g is None else _own(g, edge))
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
                total = _own(g, edge)
                if spec_of(total) is not edge.spec:
                    check_grad(edge, total)
                if old is not None:
                    old = old.array if isinstance(old, Variable) else old
                    total = _own(old + total, edge)
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


def _own(g: Any, edge: Any) -> Any:
    """A gradient as an array of the edge's backend, where a library made a scalar of it."""
    spec = edge.spec
    return g if spec is None or type(g) is spec.type else spec.backend.asarray(g)


def _base(array: Any) -> Any:
    """The array whose memory a view shows, as far as the library tells."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array


# ---------------------------------------------------------------------- grad


def grad(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | None] | None = None,
    grad_inputs: Sequence[Variable | None] | None = None,
    set_grad: bool = False,
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
) -> list[Variable | None]:
    """Gradients of outputs with respect to inputs, without touching those of any other variable.

    Args:
        outputs: A tuple or list of Variables.
        inputs: A tuple or list of Variables, anywhere in the graph.
        grad_outputs: Gradients to start from; None stands for ones.
        grad_inputs: Gradients to add the result to.
        set_grad: Also set the gradients of the inputs to the result.
        retain_grad: Also keep the gradients of the variables in between.
        enable_double_backprop: Record the graph of the gradients.
        loss_scale: Factor on the gradients to start from.

    Returns:
        A list of Variables, None for an input that the outputs do not depend on.

    >>> import core, numpy as np
    >>> x = core.Variable(np.full((), 2, "f"))
    >>> (gx,) = core.grad([x**3], [x], enable_double_backprop=True)
    >>> (ggx,) = core.grad([gx], [x])
    >>> gx.array, ggx.array
    (array(12., dtype=float32), array(12., dtype=float32))
    """
    _check_sequences(outputs, inputs, grad_outputs, grad_inputs)
    graph = enable_double_backprop
    targets = [x._edge or x.node for x in inputs]
    required = _between(outputs, targets)
    starts = _starts(outputs, grad_outputs, loss_scale)
    roots = [
        (y._edge, g if graph else g.array)
        for y, g in zip(outputs, starts, strict=True)
        if y._edge in required
    ]
    gradients: Gradients = {}
    with using_config("enable_backprop", graph):
        if roots:
            walk = _Walk(
                roots,
                graph=graph,
                retain_grad=retain_grad,
                required=required,
                keep=frozenset(targets),
            )
            if walk.heap:
                walk.run()
            gradients = walk.gradients
        found = [_as_result(gradients.get(edge), edge) for edge in targets]
        if grad_inputs is not None:
            found = [_sum(g, g0) for g, g0 in zip(found, grad_inputs, strict=True)]
    if set_grad:
        for x, g in zip(inputs, found, strict=True):
            x.grad_var = g
            if loss_scale is not None:
                x.loss_scale = loss_scale
    return found


def _as_result(g: Any, edge: Edge) -> Variable | None:
    return g if g is None or isinstance(g, Variable) else wrap(_own(g, edge), requires_grad=True)


def _sum(g: Variable | None, g0: Variable | None) -> Variable | None:
    return g if g0 is None else g0 if g is None else g + g0


def _check_sequences(outputs: Any, inputs: Any, grad_outputs: Any, grad_inputs: Any) -> None:
    for what, given in (
        ("outputs", outputs),
        ("inputs", inputs),
        ("grad_outputs", grad_outputs),
        ("grad_inputs", grad_inputs),
    ):
        if given is None and what.startswith("grad_"):
            continue
        if not isinstance(given, (tuple, list)):
            raise TypeError(
                f"grad: expected {what} to be a tuple or a list, got {type(given).__name__}"
            )
        for item in given:
            if not isinstance(item, Variable) and not (item is None and "grad_" in what):
                raise TypeError(f"grad: expected Variables in {what}, got {type(item).__name__}")
    for what, given, fits in (
        ("grad_outputs", grad_outputs, outputs),
        ("grad_inputs", grad_inputs, inputs),
    ):
        if given is not None and len(given) != len(fits):
            raise ValueError(f"grad: expected {len(fits)} {what}, got {len(given)}")


def _starts(
    outputs: Sequence[Variable], grad_outputs: Any, loss_scale: float | None
) -> list[Variable]:
    starts = []
    for y, g in zip(outputs, grad_outputs or [None] * len(outputs), strict=True):
        if g is None:
            g = wrap(y.backend.asarray(y.xp.ones_like(y.array)))
        else:
            check_grad(y, g.array)
        starts.append(g if loss_scale is None else g * loss_scale)
    return starts


def _between(outputs: Sequence[Variable], targets: Sequence[Edge]) -> set[Edge]:
    """The edges that lie on a path from an output back to a target, both ends included."""
    users: dict[Edge, list[FunctionNode]] = {}
    seen: set[FunctionNode] = set()
    pending: list[Any] = [y.creator_node for y in outputs]
    while pending:
        f = pending.pop()
        if f is None or f in seen:
            continue
        seen.add(f)
        for edge in f._edges:
            if edge.is_function or not edge._constant:
                users.setdefault(edge, []).append(f)
                pending.append(creator_of(edge))
    required: set[Edge] = set()
    reached = {y._edge for y in outputs}
    climbing = [edge for edge in targets if edge in users or edge in reached]
    while climbing:
        edge = climbing.pop()
        if edge in required:
            continue
        required.add(edge)
        for f in users.get(edge, ()):
            climbing += [f] if f._single else [n for r in f.outputs if (n := r()) is not None]
    return required
