"""Extensions where several ranks train together: who calls which of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.training.extended import Entry
from core.training.plan import Plan
from core.training.trigger import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.training.communicator import Communicator


def share_out(plan: Plan, comm: Communicator) -> list[tuple[str, Entry]]:
    """The entries that this rank calls, in their order; all ranks ask for theirs at once.

    Extensions are the same where their classes and settings are. Those that not all ranks have,
    as where a script adds them on one rank alone, are called by those which have them, each for
    itself. So are all where the ranks write their results into different directories.
    """
    order = plan.extension_order()
    mine = _numbered([_described(entry) for _, entry in order])
    stop = named(plan.stop_trigger)
    everywhere = comm.allgather_obj((str(plan.out), stop, _pace(plan.updater), mine))
    outs, stops, paces, owned = zip(*everywhere, strict=True)
    if len({*outs}) > 1:
        return order
    plan.epochs_agree = None not in paces and len({*paces}) == 1
    if len({*stops}) == 1:
        plan.stop_trigger = plan.agreed(plan.stop_trigger, "the stop trigger")
    ordered = _ordered(owned)
    turns = []
    for told, (name, entry) in zip(mine, order, strict=True):
        if entry.ranks == "first" and any([told in of for of in owned[: comm.rank]]):
            continue
        if entry.ranks == "together" and told in ordered:
            among = getattr(entry.extension, "among", None)
            entry.extension = entry.extension if among is None else among(comm)
            entry.trigger = plan.agreed(entry.trigger, f"the trigger of {name!r}")
        turns.append((name, entry))
    return turns


def _ordered(owned: Sequence[list[Any]]) -> list[Any]:
    """The extensions that all ranks have and call together, if all have them in one order."""
    shared = [[each for each in of_one if all([each in of for of in owned])] for of_one in owned]
    together = [[each for each in of_one if each[1][2] == "together"] for of_one in shared]
    return together[0] if all([each == together[0] for each in together]) else []


def _described(entry: Entry) -> tuple[Any, ...]:
    """What tells an extension from others: class or function, trigger, and settings."""
    extension = entry.extension
    kind = extension if hasattr(extension, "__qualname__") else type(extension)
    where = kind.__module__, kind.__qualname__
    return *where, entry.ranks, entry.priority, named(entry.trigger), _settings(extension)


def _settings(of: Any) -> tuple[Any, ...]:
    """Settings that ranks can compare: texts, triggers, and those of attributes with a trigger."""
    found: list[Any] = []
    for name, value in getattr(of, "__dict__", {}).items():
        if name == "name":
            continue
        if name.endswith("trigger"):
            found.append((name, named(value)))
        elif _is_text(value):
            found.append((name, value))
        elif hasattr(value, "_trigger"):
            found.append((name, _settings(value)))
    return tuple(found)


def _is_text(value: Any) -> bool:
    several = value if isinstance(value, list | tuple) else [value]
    return bool(several) and all([isinstance(each, str) for each in several])


def _numbered(described: list[Any]) -> list[tuple[int, Any]]:
    """Each with how many like it came before."""
    return [(described[:i].count(each), each) for i, each in enumerate(described)]


def _pace(updater: Any) -> Any:
    """What the length of an epoch depends on; None where that cannot be known."""
    try:
        iterators = updater.get_all_iterators().values()
        return tuple([(len(each.dataset), each.batch_size) for each in iterators])
    except (AttributeError, TypeError):
        return None
