"""Triggers: functions of the trainer that say whether to call an extension now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from core.errors.arguments import refuse_idle

Trigger: TypeAlias = Callable[[Any], bool]
"""A function of the `Trainer` or `Run`: whether to call the extension now."""

TriggerSpec: TypeAlias = Trigger | tuple[float, str] | None
"""What `get_trigger` takes: a trigger, an interval such as (5, 'epoch'), or None for never."""


def _never(trainer: Any) -> bool:
    return False


def get_trigger(trigger: TriggerSpec) -> Trigger:
    """Return the trigger for `trigger`: itself if callable, an interval for a pair, never for None.

    Raises TypeError for anything else.

    >>> get_trigger(None)(None)
    False
    """
    if trigger is None:
        return _never
    if isinstance(trigger, type):  # whose every call makes one, which is true
        name = trigger.__name__
        raise TypeError(
            f"trigger: expected a trigger, got the class {name}. Make one of it: {name}(...)."
        )
    if callable(trigger):
        refuse_idle("trigger", trigger)  # what a call makes is true
        checked: Trigger = trigger
        return checked
    if isinstance(trigger, tuple | list) and len(trigger) == 2:
        from core.training import triggers

        interval: Trigger = triggers.IntervalTrigger(*trigger)
        return interval
    raise TypeError(
        f"trigger: expected a pair such as (5, 'epoch') or (100, 'iteration'), a function of the "
        f"trainer, or None; got {trigger!r}."
    )


def named(trigger: Any) -> str:
    """A trigger as one would write it, as far as that can be known.

    >>> named(get_trigger((5, "epoch"))), named(get_trigger(None)), named(print)
    ("(5, 'epoch')", 'never', 'print()')
    """
    if hasattr(trigger, "period") and hasattr(trigger, "unit"):
        return f"({trigger.period}, {trigger.unit!r})"
    shown = str(trigger)
    if not shown.startswith("<"):  # as what has no text of its own shows itself
        return shown
    name = getattr(trigger, "__name__", type(trigger).__name__)
    return "never" if name == "_never" else f"{name}()"


def __getattr__(name: str) -> Any:
    """What existing scripts look for here: `core.training.trigger.IntervalTrigger`."""
    if name == "IntervalTrigger":
        from core.training import triggers

        return getattr(triggers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
