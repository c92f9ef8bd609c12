"""What has served another training already, and still has the state that it came to there."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any
from weakref import WeakSet

from core.errors import place
from core.training.extension import Extension
from core.training.plan import Plan

_served: WeakSet[Any] = WeakSet()


def tell_of_used(plan: Plan, told: bool = True) -> None:
    """Note what serves a training that begins now; warn of what has served another, if `told`.

    The state of one that is resumed has come from its file.
    """
    found = {id(part): (what, part) for what, part in _parts(plan) if _has_state(part)}
    used = [what for what, part in found.values() if part in _served]
    _served.update(part for _, part in found.values())
    who = type(plan).__name__
    if used and told:
        place.warn(
            f"{who}: {', '.join(used)} served another training before, and would go on from "
            "there. Make a new one for each training."
        )
    passes = getattr(plan.updater, "epoch", 0) or 0
    if told and passes >= 1 and plan.is_before_training:
        place.warn(
            f"{who}: the iterator has been through the data {passes} times before, and epochs are "
            "counted on from there. Make a new one for each training, or call its reset()."
        )


def _parts(plan: Plan) -> Iterator[tuple[str, Any]]:
    yield "the stop trigger", plan.stop_trigger
    for name, entry in plan.extension_order():
        yield f"the extension {name!r}", entry.extension
        yield f"the trigger of {name!r}", entry.trigger


def _has_state(part: Any) -> bool:
    saves = getattr(type(part), "serialize", Extension.serialize) is not Extension.serialize
    return saves and isinstance(part, Hashable) and hasattr(part, "__weakref__")
