"""The walk's complete step: a function with several outputs, with hooks, or in debug mode.

The walk itself takes the short step, which needs nothing of this, wherever it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.arrays.spec import ensure_array
from core.graph.fitting import check_grad
from core.graph.graph_node import GraphNode
from core.graph.variable import Variable, as_array, as_variable, wrap
from core.registry.configuration import using_config

if TYPE_CHECKING:
    from core.graph.walk import Walk


def complete_step(walk: Walk, f: GraphNode) -> Sequence[Any]:
    """One function, whatever it is: several outputs, hooks, debug mode, chosen targets."""
    nodes = [f] if f._single else [reference() for reference in f.outputs]
    # An output that was unchained is a leaf, whose gradient stays there.
    outputs = [e if f._single or getattr(e, "_creator", None) is f else None for e in nodes]
    cotangents = tuple([_cotangent(walk, source) for source in outputs])
    needs_grad = -1 if walk.required is None else walk.required.get(f, 0)
    indexes = [
        i for i, source in enumerate(f._sources) if needs_grad >> i & 1 and not source._constant
    ]
    found: Sequence[Any] = (None,) * len(f._sources)
    if indexes:
        found = _differentiate(walk, f, cotangents, indexes)
    _hand_over(walk, outputs)
    return found


def _cotangent(walk: Walk, source: Any) -> Any:
    """The gradient of an output; of one that nothing reached, its variable's own."""
    if source is None:
        return None
    if source in walk.gradients:
        g = walk.gradients[source]  # a scalar where a sum of arrays without axes has become one
        return g if isinstance(g, Variable) else ensure_array(g, source.spec)
    g = source._grad
    return g if g is None else as_variable(g) if walk.graph else as_array(g)


def _differentiate(
    walk: Walk, f: GraphNode, cotangents: tuple[Any, ...], indexes: list[int]
) -> Sequence[Any]:
    rules = f._rules[1 + walk.graph]
    hooks = f._hooks(walk.state)
    if rules is not None and not hooks and not walk.state.debug:
        return _by_rules(walk, f, rules, cotangents, indexes)
    if walk.state.debug:
        from core.graph.debug import refuse_changed

        refuse_changed(f)
    data = tuple([source.data for source in f._sources])
    given = tuple([as_array(g) for g in cotangents])
    with using_config("enable_backprop", walk.graph):
        for hook in hooks:
            hook.backward_preprocess(f, data, given)
        if rules is not None:
            found = _by_rules(walk, f, rules, cotangents, indexes)
        else:
            found = _by_backward(walk, f, cotangents, indexes)
        for hook in hooks:
            hook.backward_postprocess(f, data, given)
    if walk.state.debug:
        from core.graph.debug import refuse_nan

        refuse_nan(f, map(as_array, found), "backward")
    return found


def _by_rules(
    walk: Walk, f: GraphNode, rules: Any, cotangents: tuple[Any, ...], indexes: list[int]
) -> Sequence[Any]:
    """Through the declared rules; nothing is found where no gradient came."""
    if not any([g is not None for g in cotangents]):
        return (None,) * len(f._sources)
    needs_grad = sum([1 << i for i in indexes])
    return _checked(f, rules(f, cotangents[0] if f._single else cotangents, needs_grad))


def _by_backward(
    walk: Walk, f: Any, cotangents: tuple[Any, ...], indexes: list[int]
) -> Sequence[Any]:
    """Through the general `backward`, which takes and gives Variables."""
    given = tuple([g if g is None or isinstance(g, Variable) else wrap(g) for g in cotangents])
    part = f.backward_accumulate(tuple(indexes), given, (None,) * len(indexes))
    found: list[Any] = [None] * len(f._sources)
    for i, g in zip(indexes, part, strict=True):
        if g is not None:
            found[i] = g if walk.graph else as_variable(g).array
    return _checked(f, found)


def _checked(f: GraphNode, found: Sequence[Any]) -> Sequence[Any]:
    for i, (source, g) in enumerate(zip(f._sources, found, strict=True)):
        if g is not None:
            given = ensure_array(as_array(g), source.spec)
            check_grad(source.spec, f"input {i} of {f.label}", given)
    return found


def _hand_over(walk: Walk, outputs: Sequence[Any]) -> None:
    """Gradients of variables in between go to them if asked for, else they are dropped."""
    for source in outputs:
        if source is None:
            continue
        keeps = source in walk.keep
        g = walk.gradients.get(source) if keeps else walk.gradients.pop(source, None)
        if source in walk.roots and not walk.keep:
            continue
        if walk.retain_grad:
            g = g if walk.graph or g is None else ensure_array(g, source.spec)
            source.set_grad(g)
            if g is not None:  # what it was handed on to unchanged gets a copy
                walk.given.append(g)
        elif not walk.keep:  # of `core.grad`, which changes no other gradient
            source._grad = None
