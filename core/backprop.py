"""Backpropagation: the one walk over a graph, behind `Variable.backward`, `backward` and `grad`.

Gradients flow in a dict of the walk's own, from node to gradient: arrays in an ordinary backward,
Variables when the graph of the backward is wanted. So walks do not disturb each other, and an
exception leaves nothing behind. The next node is the pending one whose creator was made last; a
heap is needed only where paths branch. Leaves get their gradients when the walk is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any
from weakref import ref

from core.backend import BACKENDS
from core.configuration import State, current, using_config
from core.errors import GraphError
from core.function_node import FunctionNode
from core.variable import Variable, as_variable, check_grad, wrap
from core.variable_node import VariableNode

Gradients = dict[VariableNode, Any]
Nodes = set[VariableNode] | frozenset[VariableNode]


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
        node = y._node
        if node is None:
            raise GraphError(
                "backward: this Variable wants no gradient, so nothing leads back from it. Was it "
                "made under no_backprop_mode(), or by an operation without a derivative?"
            )
        if node._creator is not None:
            roots.append((node, _initial(y, graph, loss_scale)))
    if not roots:
        return
    creators = [node.creator_node for node, _ in roots] if free_graph else []
    if free_graph:
        for node, _ in roots:
            node._creator = None
    walk = _Walk(roots, creators, graph=graph, retain_grad=retain_grad, loss_scale=loss_scale)
    del creators
    with using_config("enable_backprop", graph):
        walk.run()
        walk.settle()


def _initial(y: Variable, graph: bool, loss_scale: float | None) -> Any:
    if y._grad is None:
        if y.size != 1:
            raise GraphError(
                f"backward: expected a gradient to start from for a Variable of shape {y.shape}, "
                "which has several elements. Set its grad first, or reduce it, as with F.sum."
            )
        y.grad = y.backend.asarray(y.xp.ones_like(y.array))
    if loss_scale is not None:
        y._grad = y._grad * loss_scale
        if not isinstance(y._grad, Variable):
            y._grad = y.backend.asarray(y._grad)
    return y.grad_var if graph else y.grad


class _Walk:
    """One walk: from the roots towards the leaves, or towards `required` nodes alone."""

    def __init__(
        self,
        roots: Sequence[tuple[VariableNode, Any]],
        creators: Sequence[FunctionNode | None] = (),
        *,
        graph: bool = False,
        retain_grad: bool = False,
        loss_scale: float | None = None,
        required: Nodes | None = None,
        keep: Nodes = frozenset(),
    ) -> None:
        self.state: State = current()
        self.graph = graph
        self.retain_grad = retain_grad
        self.loss_scale = loss_scale
        self.required = required
        self.keep = keep
        self.roots = {node for node, _ in roots}
        self.given = () if graph else [g for _, g in roots]
        self.gradients: Gradients = {}
        self.leaves: list[VariableNode] = []
        self.owned: set[VariableNode] = set()
        self.queued: set[FunctionNode] = set()
        self.heap: list[tuple[int, int, FunctionNode, VariableNode]] = []
        self.tie = 0
        for i, (node, g) in enumerate(roots):
            self._start(node, creators[i] if creators else node.creator_node, g)

    def _start(self, node: VariableNode, f: FunctionNode | None, g: Any) -> None:
        old = self.gradients.get(node)
        self.gradients[node] = g if old is None else old + g
        if f is None:
            self.leaves.append(node)
        elif f not in self.queued:
            self.queued.add(f)
            self._push(f, node)

    def _push(self, f: FunctionNode, node: VariableNode) -> None:
        self.tie += 1
        heappush(self.heap, (-f.sequence, self.tie, f, node))

    def run(self) -> None:
        """Walk until nothing is pending."""
        gradients, graph, owned, queued = self.gradients, self.graph, self.owned, self.queued
        leaves, heap = self.leaves, self.heap
        get, pop = gradients.get, gradients.pop
        plain = not (self.state.slow or self.retain_grad or self.required is not None)
        f: Any
        node: Any
        next_node: Any
        _, _, f, node = heappop(heap)
        while True:
            inputs = f.inputs
            if inputs is None:
                raise GraphError(
                    f"backward: the graph was cut at {f.label}, by unchain or by an earlier "
                    "backward that freed it. Compute the forward pass again."
                )
            rules = f._var if graph else f._raw
            if plain and rules is not None and f._single:
                found = rules(f, pop(node), f.want)
                if node.extra is not None and node not in self.roots:
                    self._clear(node)
            else:
                found = self._step(f, node, rules)
            queued.discard(f)
            next_f = next_node = None
            for n, g in zip(inputs, found):  # noqa: B905 - rules were checked for their number
                if g is None or n.extra is not None and not n.requires_grad:
                    continue
                old = get(n)
                if old is not None:
                    if graph or n not in owned:
                        gradients[n] = old + g
                        owned.add(n)
                    else:  # in place, into a sum that this walk made itself
                        old += g
                        gradients[n] = old
                    continue
                gradients[n] = g
                creator = n._creator
                if creator is None:
                    leaves.append(n)
                    continue
                if not creator._single:
                    if creator in queued:
                        continue
                    queued.add(creator)
                if next_f is None:
                    next_f, next_node = creator, n
                else:
                    self._push(creator, n)
            # Nothing may outlive its use: what is walked through can be freed.
            f = node = inputs = found = n = g = old = creator = rules = None
            if next_f is None:
                if not heap:
                    return
                _, _, f, node = heappop(heap)
            elif heap and -heap[0][0] > next_f.sequence:
                self._push(next_f, next_node)
                _, _, f, node = heappop(heap)
            else:
                f, node = next_f, next_node
            next_f = next_node = None

    # ------------------------------------------------------------------ a step with everything

    def _step(self, f: FunctionNode, node: VariableNode, rules: Any) -> Sequence[Any]:
        """One function, whatever it is: several outputs, hooks, debug mode, chosen targets."""
        if f._outputs is None:
            f._outputs = (ref(node),)
        outputs = [reference() for reference in f._outputs]
        cotangents = tuple([self._cotangent(n) for n in outputs])
        wanted = [i for i, n in enumerate(f.inputs) if self._wants(n)]
        found: Sequence[Any] = (None,) * len(f.inputs)
        if wanted:
            found = self._differentiate(f, cotangents, wanted, rules)
        self._hand_over(outputs)
        return found

    def _cotangent(self, node: VariableNode | None) -> Any:
        """The gradient of an output; of one that nothing reached, its variable's own."""
        if node is None:
            return None
        if node in self.gradients:
            return self.gradients[node]
        if not node.own_grad:
            return None
        return node.grad_var if self.graph else node.grad

    def _wants(self, node: VariableNode) -> bool:
        return node.requires_grad and (self.required is None or node in self.required)

    def _differentiate(
        self, f: FunctionNode, cotangents: tuple[Any, ...], wanted: list[int], rules: Any
    ) -> Sequence[Any]:
        hooks = f._hooks(self.state)
        if self.state.debug:
            from core.debug import refuse_changed

            refuse_changed(f)
        seen: Any = ()
        if hooks:
            seen = (
                tuple([n.data for n in f.inputs]),
                tuple([g.array if isinstance(g, Variable) else g for g in cotangents]),
            )
        for hook in hooks:
            hook.backward_preprocess(f, *seen)
        if rules is not None and any(g is not None for g in cotangents):
            want = sum([1 << i for i in wanted])
            g = cotangents[0] if f._single else cotangents
            found = self._checked(f, rules(f, g, want))
        else:
            found = self._by_backward(f, cotangents, wanted)
        for hook in hooks:
            hook.backward_postprocess(f, *seen)
        if self.state.debug:
            from core.debug import refuse_nan

            arrays = [g.array if isinstance(g, Variable) else g for g in found]
            refuse_nan(f, arrays, "backward")
        return found

    def _by_backward(
        self, f: FunctionNode, cotangents: tuple[Any, ...], wanted: list[int]
    ) -> Sequence[Any]:
        """Through the general `backward`, which takes and gives Variables."""
        given = tuple([g if g is None or isinstance(g, Variable) else wrap(g) for g in cotangents])
        part = f.backward_accumulate(tuple(wanted), given, (None,) * len(wanted))
        found: list[Any] = [None] * len(f.inputs)
        for i, g in zip(wanted, part, strict=True):
            if g is not None:
                found[i] = g if self.graph else as_variable(g).array
        return self._checked(f, found)

    def _checked(self, f: FunctionNode, found: Sequence[Any]) -> Sequence[Any]:
        if len(found) != len(f.inputs):
            raise ValueError(
                f"{f.label}: expected {len(f.inputs)} gradients, one an input, got {len(found)}"
            )
        for i, (node, g) in enumerate(zip(f.inputs, found, strict=True)):
            if g is not None and node.spec is not None and tuple(g.shape) != node.spec.shape:
                raise ValueError(
                    f"{f.label}: expected a gradient of shape {node.spec.shape} for input {i}, "
                    f"got {tuple(g.shape)}"
                )
        return found

    def _hand_over(self, outputs: Sequence[VariableNode | None]) -> None:
        """Gradients of variables in between go to them if asked for, and are gone else."""
        for node in outputs:
            if node is None:
                continue
            g = self.gradients.get(node) if node in self.keep else self.gradients.pop(node, None)
            variable = node.get_variable_or_none()
            if variable is None or node in self.roots:
                continue
            if self.retain_grad:
                variable._grad = g if self.graph else _own(g, variable)
                node.own_grad = True
            elif self.required is None:
                self._clear(node)

    def _clear(self, node: VariableNode) -> None:
        """A gradient that a variable in between has of its own is of an earlier walk: it goes."""
        variable = node.get_variable_or_none()
        if node.own_grad and variable is not None:
            variable.cleargrad()

    # ------------------------------------------------------------------ the end

    def settle(self) -> None:
        """Give the leaves their gradients: no array twice, none that the caller holds."""
        given = {id(_base(g)) for g in self.given}
        ready = []
        for node in self.leaves:
            variable, g = node.get_variable_or_none(), self.gradients[node]
            if variable is None or g is None:
                continue
            if self.graph:
                total = g if variable._grad is None else variable.grad_var + g
            else:
                total = _own(g, variable)
                check_grad(variable, total)
                if variable._grad is not None:
                    total = _own(variable.grad + total, variable)
                elif id(_base(total)) in given:
                    total = BACKENDS[type(total)].copy(total)
                given.add(id(_base(total)))
            ready.append((variable, total))
        for variable, total in ready:
            variable._grad = total
            if self.loss_scale is not None:
                variable.loss_scale = self.loss_scale


def _own(g: Any, variable: Variable) -> Any:
    """A gradient as an array of the variable's backend, where a library made a scalar of it."""
    if type(g) in BACKENDS:
        return g
    return variable.backend.asarray(g)


def _base(array: Any) -> Any:
    """The array whose memory a view shows, as far as the library tells."""
    while getattr(array, "base", None) is not None:
        array = array.base
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
    targets = [x.node for x in inputs]
    required = _between(outputs, targets)
    starts = _starts(outputs, grad_outputs, loss_scale)
    roots = [
        (y.node, g if graph else g.array)
        for y, g in zip(outputs, starts, strict=True)
        if y.node in required
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
        found = [_as_result(gradients.get(x.node), x) for x in inputs]
        if grad_inputs is not None:
            found = [_sum(g, g0) for g, g0 in zip(found, grad_inputs, strict=True)]
    if set_grad:
        for x, g in zip(inputs, found, strict=True):
            x.grad_var = g
            if loss_scale is not None:
                x.loss_scale = loss_scale
    return found


def _as_result(g: Any, x: Variable) -> Variable | None:
    return g if g is None or isinstance(g, Variable) else wrap(_own(g, x), requires_grad=True)


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


def _between(outputs: Sequence[Variable], targets: Sequence[VariableNode]) -> set[VariableNode]:
    """The nodes that lie on a path from an output back to a target, both ends included."""
    users: dict[VariableNode, list[FunctionNode]] = {}
    seen: set[FunctionNode] = set()
    pending: list[Any] = [y.creator_node for y in outputs]
    while pending:
        f = pending.pop()
        if f is None or f in seen or f.inputs is None:
            continue
        seen.add(f)
        for node in f.inputs:
            if node.requires_grad:
                users.setdefault(node, []).append(f)
                pending.append(node.creator_node)
    required: set[VariableNode] = set()
    reached = {y.node for y in outputs}
    climbing = [node for node in targets if node in users or node in reached]
    while climbing:
        node = climbing.pop()
        if node in required:
            continue
        required.add(node)
        for f in users.get(node, ()):
            climbing += [n for reference in f.outputs if (n := reference()) is not None]
    return required
