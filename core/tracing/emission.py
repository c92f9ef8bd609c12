"""Calls of values: what is known of their results, and how they are recorded."""

from __future__ import annotations

from typing import Any

from core.programs import Call, NoShape, Value, infer, values_in
from core.tracing import tape as tapes

_MOST = 4096
_found: dict[Any, Any] = {}
"""What is known of results, by calls and what is known of their arguments."""


def shaped(tape: tapes.Tape, call: Call, args: Any, kwargs: Any) -> Any:
    """What is known of the result of a call."""
    key = None
    known = tape.constants.keys()  # whose elements may say more
    if call.function is None and known.isdisjoint(values_in((args, kwargs))):
        key = call, _known(args), _known(kwargs)
    try:
        found = _found.get(key)
    except TypeError:  # an argument that cannot be looked up by
        key = found = None
    if found is None:
        found = _inferred(tape, call, args, kwargs)
        if key is not None:
            if len(_found) >= _MOST:
                _found.clear()
            _found[key] = found
    return found


def _inferred(tape: tapes.Tape, call: Call, args: Any, kwargs: Any) -> Any:
    try:
        return infer(call, args, kwargs, tape.constants)
    except NoShape:
        raise tape.refusal(
            f"{call.name}: the shape of the result, or the result itself, depends on the values of "
            "its arguments, and a trace has none"
        ) from None


def _known(tree: Any) -> Any:
    """What results follow from, such that it can be looked up by: no number for another's equal."""
    if isinstance(tree, Value):
        return tree.shape, tree.dtype, tree.scalar
    if isinstance(tree, (tuple, list)):
        return type(tree), *[_known(part) for part in tree]
    if isinstance(tree, dict):
        return dict, *tree, *[_known(part) for part in tree.values()]
    if isinstance(tree, slice):
        return slice, _known(tree.start), _known(tree.stop), _known(tree.step)
    return type(tree), tree


def emit(tape: tapes.Tape, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record a call of values that gives one array; gives its value."""
    found = shaped(tape, call, args, kwargs)
    value = Value(found.shape, found.dtype, found.scalar)
    tape.record(call, args, kwargs, (value,))
    return value
