"""What a captured step must leave as it was: put back when it is recorded, for each kind of object.

What a step has changed by other ways than those that a replay goes is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from core.capturing.leaving import stands_for
from core.errors import TraceError


def of_attributes(own: dict[str, Any], before: dict[str, Any], kept: dict[str, Any]) -> Any:
    """What sets attributes of a link to what they were, and their entries."""

    def restore() -> None:
        for name in [name for name in own if name not in before]:
            del own[name]
        for name, value in before.items():
            if own.get(name, own) is not value:
                own[name] = value
        for name, content in kept.items():
            if not stands_for(before[name], content):
                if isinstance(content, list):
                    before[name][:] = content
                else:
                    before[name].clear()
                    before[name].update(content)

    return restore


def otherwise_frozen(name: str) -> TraceError:
    """The error of a parameter that a replay would not find as the step has made it."""
    return TraceError(
        f"capture: {name} is frozen, or no longer frozen, at the end of the step or where its "
        "optimizer updates. Freeze it before the step, or for a part of the step in between."
    )


def of_parameter(name: str, parameter: Any) -> Callable[[], None]:
    """What gives a parameter its array and gradient, its place in graphs, and its rule's count.

    With the gradient goes the factor that is on it.
    """
    array, source, frozen = parameter._array, parameter._source, parameter._frozen
    constant, resting = parameter._constant, parameter._resting
    node = source or constant
    data, grad = (None, None) if node is None else (node.data, node._grad)
    rule, scale = parameter.update_rule, parameter.loss_scale
    t, enabled = (None, None) if rule is None else (rule.t, rule.enabled)

    def restore() -> None:
        if rule is not None and rule.enabled != enabled:
            rule.enabled = enabled
        moved = parameter._source is not source
        parameter._source, parameter._constant, parameter._frozen = source, constant, frozen
        parameter._resting = resting
        parameter.array = array
        if parameter.loss_scale is not scale:
            parameter.loss_scale = scale
        if node is not None:  # of what is frozen too: `zerograds` gives it zeros
            node._grad, node.data = grad, data
        if moved:
            raise otherwise_frozen(name)
        if rule is not None and rule.t != t:
            rule.t = t
            raise TraceError(f"capture: {name} is updated by its rule, not by an optimizer.")

    return restore


def of_optimizer(optimizer: Any, counts: dict[str, int]) -> Callable[[], None]:
    """What gives an optimizer its attributes, and its counts of parts."""
    kept, t = dict(vars(optimizer)), optimizer.t

    def restore() -> None:
        counted = optimizer.t != t
        vars(optimizer).update(kept | counts)
        optimizer.t = t
        if counted:
            raise TraceError(
                f"capture: {type(optimizer).__name__} counts steps by itself in the step."
            )

    return restore


def of_variable(x: Any, made: Any) -> Callable[[], None]:
    """What gives a Variable its array, in whose place is a traced one, where it is still there."""
    array, grad, known = x._array, x._grad, ref(x)

    def restore() -> None:
        present = known()
        if present is None:  # it was the step's own
            return
        other, graded = present._array is not made, present._grad is not grad
        present.array = array
        if graded:
            present._grad = grad
            raise TraceError(
                "capture: a Variable from outside gets a gradient. Give it as an argument, or "
                "make it a Parameter of a link."
            )
        if other:
            raise TraceError(
                "capture: a Variable from outside is given another array. Make it an attribute "
                "of a link."
            )

    return restore
