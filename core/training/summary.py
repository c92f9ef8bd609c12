"""The parts of a training, as text and as a table in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.link.html import table

if TYPE_CHECKING:
    from core.training.loop import Loop

_HEAD = ("extension", "priority", "trigger")


def text(loop: Loop) -> str:
    """Until when and where, the optimizers, and the extensions in the order of their calls."""
    rows = [_HEAD, *_extensions(loop)]
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    lines = [f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]}" for row in rows]
    return "\n".join([_title(loop), *(f"  {line}" for line in _optimizers(loop)), *lines])


def html(loop: Loop) -> str:
    """The same as HTML."""
    return table("; ".join([_title(loop), *_optimizers(loop)]), [_HEAD, *_extensions(loop)], "th")


def _title(loop: Loop) -> str:
    done = f"after iteration {loop.updater.iteration}, " if loop.updater.iteration else ""
    return f"{type(loop).__name__}: {done}until {named(loop.stop_trigger)}, in {str(loop.out)!r}"


def _optimizers(loop: Loop) -> list[str]:
    return [
        f"{name}: {optimizer!r} on {type(optimizer.target).__name__}"
        for name, optimizer in loop.updater.get_all_optimizers().items()
    ]


def _extensions(loop: Loop) -> list[tuple[str, str, str]]:
    return [
        (name, str(entry.priority), named(entry.trigger)) for name, entry in loop.extension_order()
    ]


def named(trigger: Any) -> str:
    """A trigger as one would write it, as far as that can be known.

    >>> from core.training import get_trigger
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
