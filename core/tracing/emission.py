"""Calls of values: what is known of their results, and how they are recorded."""

from __future__ import annotations

from typing import Any

from core.tracing import tape as tapes
from core.tracing.equation import Call, Value
from core.tracing.inference import NoShape, infer


def shaped(tape: tapes.Tape, call: Call, args: Any, kwargs: Any) -> Any:
    """What is known of the result of a call."""
    try:
        return infer(call, args, kwargs, tape.constants)
    except NoShape:
        raise tape.refusal(
            f"{call.name}: the shape of the result, or the result itself, depends on the values of "
            "its arguments, and a trace has none"
        ) from None


def emit(tape: tapes.Tape, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record a call of values that gives one array; gives its value."""
    found = shaped(tape, call, args, kwargs)
    value = Value(found.shape, found.dtype, found.scalar)
    tape.record(call, args, kwargs, (value,))
    return value
