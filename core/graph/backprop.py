"""Backpropagation as users ask for it: `Variable.backward`, `backward` and `grad`.

All three check what they are given and send the one walk over the graph, core.graph.walk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from operator import attrgetter
from typing import Any

from core.arrays.spec import ensure_array
from core.errors import GraphError, NotDifferentiable
from core.errors.keywords import checked_when_called
from core.graph.delivery import apart, deliver, memory, refuse_freed
from core.graph.fitting import check_grad, is_array
from core.graph.graph_node import GraphNode
from core.graph.history import creator_of, history_of
from core.graph.variable import Variable, as_array, as_variable, wrap
from core.graph.variable_node import Source
from core.graph.walk import Walk
from core.registry.configuration import using_config


@checked_when_called
def backward(
    outputs: Iterable[Variable],
    grad_outputs: Any = None,
    *,
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
    free_graph: bool = False,
) -> None:
    """Backpropagate from several outputs in one walk: add to the gradients of their leaves.

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
    backward_from(outputs, retain_grad, enable_double_backprop, loss_scale, free_graph)


def backward_from(
    outputs: Sequence[Variable],
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
    free_graph: bool = False,
    gradients: dict[Source, Any] | None = None,
) -> None:
    """What `Variable.backward` does, from several variables at once."""
    with _beside(outputs):
        _backward(outputs, retain_grad, enable_double_backprop, loss_scale, free_graph, gradients)


def _beside(outputs: Sequence[Variable]) -> AbstractContextManager[Any]:
    """Where sums of gradients are computed: on the device of the first output."""
    spec = outputs[0]._spec if outputs else None
    around = None if spec is None else spec.backend.around(spec.device)
    return _ANYWHERE if around is None else around()


_ANYWHERE = nullcontext()


def _backward(
    outputs: Sequence[Variable],
    retain_grad: bool,
    graph: bool,
    loss_scale: float | None,
    free_graph: bool,
    gradients: dict[Source, Any] | None,
) -> None:
    roots = []
    for y in outputs:
        source = y._source
        if source is None:
            raise _no_way_back(y)
        if creator_of(source) is not None:
            _refuse_complex(y)
            roots.append((source, _initial(y, graph, loss_scale)))
        else:
            refuse_freed("backward", (source,))
    if not roots:
        return
    walk = Walk(roots, graph=graph, retain_grad=retain_grad, free=free_graph, gradients=gradients)
    del roots
    if graph and not walk.state.backprop:
        with using_config("enable_backprop", True):
            walk.run()
            deliver(walk, loss_scale)
    else:
        walk.run()
        deliver(walk, loss_scale)


Variable._backward_from = staticmethod(backward_from)


def _no_way_back(y: Variable) -> GraphError:
    if getattr(y, "_nondifferentiable", ""):
        return NotDifferentiable(
            f"backward: {y._nondifferentiable} has no derivative, so nothing leads back from its "
            "result."
        )
    return GraphError(
        "backward: this Variable needs no gradient. Was it made of parameters that are all frozen, "
        "under no_backprop_mode(), by core.hessian or its kin, an operation without derivative, or "
        "inside another backward? There, record it by core.force_backprop_mode()."
    )


def _refuse_complex(y: Variable) -> None:
    if y._spec is not None and y._spec.kind == "c":
        raise NotDifferentiable(
            f"backward: expected a Variable of real numbers, got one of {y._spec.name}. Complex "
            "numbers have no derivatives here: compute with real and imaginary parts."
        )


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


@checked_when_called
def grad(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    grad_outputs: Sequence[Any] | None = None,
    grad_inputs: Sequence[Any] | None = None,
    set_grad: bool = False,
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
) -> list[Variable | None]:
    """Compute gradients of outputs with respect to inputs; no other gradient changes.

    Args:
        outputs: A tuple or list of Variables.
        inputs: A tuple or list of Variables, anywhere in the graph.
        grad_outputs: Gradients to start from, Variables or arrays; None stands for ones.
        grad_inputs: Gradients to add the result to, Variables or arrays.
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
    targets = [x._source or x.node for x in inputs]
    depending, masks = _ways(outputs, targets)
    starts = _starts(outputs, grad_outputs, loss_scale)
    pairs = [(y._source, g) for y, g in zip(outputs, starts, strict=True)]
    roots = [(source, g if graph else g.array) for source, g in pairs if source in depending]
    for x, source, g in zip(inputs, targets, grad_inputs or (), strict=grad_inputs is not None):
        if g is not None:  # where this input depends on another one, g leads on to that
            g = as_variable(check_grad(x._spec, x.name, g))
            roots.append((source, g if graph else g.array))
    gradients: dict[Source, Any] = {}
    given: list[Any] = []
    with using_config("enable_backprop", graph), _beside(outputs):
        if roots:
            walk = Walk(
                roots, graph=graph, retain_grad=retain_grad, required=masks, keep=frozenset(targets)
            )
            if walk.heap:
                walk.run()
            gradients, given = walk.gradients, walk.given
        held = {memory(as_array(g)) for g in given}
        found = [_as_result(gradients.get(source), source, held) for source in targets]
    if set_grad:
        for x, g in zip(inputs, found, strict=True):
            x.grad_var = g
            if loss_scale is not None:
                x.loss_scale, Variable._scaled = loss_scale, True
    return found


def _as_result(g: Any, source: Source, given: set[int]) -> Variable | None:
    """A gradient in memory of its own, as those are that `deliver` gives."""
    if g is None or isinstance(g, Variable):
        return g if g is None else apart(g, given)
    return wrap(apart(ensure_array(g, source.spec), given), requires_grad=True)


def _check_sequences(outputs: Any, inputs: Any, grad_outputs: Any, grad_inputs: Any) -> None:
    for what, given, fits in (
        ("outputs", outputs, outputs),
        ("inputs", inputs, inputs),
        ("grad_outputs", grad_outputs, outputs),
        ("grad_inputs", grad_inputs, inputs),
    ):
        optional = what.startswith("grad_")
        if given is None and optional:
            continue
        if not isinstance(given, (tuple, list)):
            raise TypeError(
                f"grad: expected {what} to be a tuple or a list, got {type(given).__name__}"
            )
        for item in given:
            if not (isinstance(item, Variable) or (optional and (item is None or is_array(item)))):
                raise TypeError(f"grad: expected Variables in {what}, got {type(item).__name__}")
        if len(given) != len(fits):
            raise ValueError(f"grad: expected {len(fits)} {what}, got {len(given)}")


def _starts(
    outputs: Sequence[Variable], grad_outputs: Any, loss_scale: float | None
) -> list[Variable]:
    starts = []
    for y, g in zip(outputs, grad_outputs or [None] * len(outputs), strict=True):
        _refuse_complex(y)
        g = y.backend.asarray(y.xp.ones_like(y.array)) if g is None else g
        g = as_variable(check_grad(y._spec, y.name, g))
        starts.append(g if loss_scale is None else g * loss_scale)
    return starts


def _ways(
    outputs: Sequence[Variable], targets: Sequence[Source]
) -> tuple[set[Source], dict[GraphNode, int] | None]:
    """What depends on the targets: sources, and functions with a bit mask of the inputs that do.

    There are no masks where all leaves are targets, and nothing else is.
    """
    depending = {source for source in targets if not source._constant}
    leaves: set[Source] = set()
    functions = history_of([y.creator_node for y in outputs], leaves)
    ends = leaves.union([y._source for y in outputs if y._source is not None])
    refuse_freed("grad", ends - depending)
    if {leaf for leaf in leaves if not leaf._constant} == depending:  # all lead there
        depending.update([y._source for y in outputs if y._source is not None])
        return depending, None
    masks: dict[GraphNode, int] = {}
    for f in sorted(functions, key=attrgetter("sequence")):
        mask, bit = 0, 1
        for source in f._sources:
            if source in depending:
                mask += bit
            bit += bit
        if mask:
            masks[f] = mask
            depending.update([f] if f._single else [n for r in f.outputs if (n := r()) is not None])
    return depending, masks
