"""The parts of a training, as text and as a table in a notebook."""

from __future__ import annotations

from core.link.html import table
from core.training.plan import Plan
from core.training.trigger import named

_HEAD = ("extension", "priority", "trigger")


def text(plan: Plan) -> str:
    """Until when and where, the optimizers, and the extensions in the order of their calls."""
    rows = [_HEAD, *_extensions(plan)]
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    lines = [f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]}" for row in rows]
    return "\n".join([_title(plan), *(f"  {line}" for line in _optimizers(plan)), *lines])


def html(plan: Plan) -> str:
    """The same as HTML."""
    return table("; ".join([_title(plan), *_optimizers(plan)]), [_HEAD, *_extensions(plan)], "th")


def _title(plan: Plan) -> str:
    done = f"after iteration {plan.updater.iteration}, " if plan.updater.iteration else ""
    return f"{type(plan).__name__}: {done}until {named(plan.stop_trigger)}, in {str(plan.out)!r}"


def _optimizers(plan: Plan) -> list[str]:
    return [
        f"{name}: {optimizer!r} on {type(optimizer.target).__name__}"
        for name, optimizer in plan.updater.get_all_optimizers().items()
    ]


def _extensions(plan: Plan) -> list[tuple[str, str, str]]:
    return [
        (name, str(entry.priority), named(entry.trigger)) for name, entry in plan.extension_order()
    ]
