"""Extensions where several ranks train together: who calls which of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.errors import nearest
from core.training.summary import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.training.communicator import Communicator
    from core.training.extended import Entry
    from core.training.loop import Loop
    from core.training.trigger import Trigger

_RANKS = ("each", "first", "together")


def check_ranks(who: str, ranks: Any) -> None:
    """Raise ValueError unless `ranks` is what `Extension` says."""
    if ranks not in _RANKS:
        raise ValueError(
            f"{who}: expected ranks 'each', 'first' or 'together', got {ranks!r}."
            + nearest(str(ranks), _RANKS)
        )


def stepping(updater: Any) -> Any:
    """What makes the steps of several ranks: the updater or an optimizer; None for a process alone.

    That is what has a `communicator`, the largest one.
    """
    parts = [updater, *updater.get_all_optimizers().values()]
    sizes = [getattr(getattr(part, "communicator", None), "size", 1) for part in parts]
    return parts[sizes.index(max(sizes))] if max(sizes) > 1 else None


def share_out(loop: Loop, comm: Communicator) -> list[tuple[str, Entry]]:
    """The entries that this rank calls, in their order; all ranks ask for theirs at once.

    Extensions are the same where their classes and settings are. Those that not all ranks have,
    as where a script adds them on one rank alone, are called by those which have them, each for
    itself. So are all where the ranks write their results into different directories.
    """
    order = loop.extension_order()
    mine = _numbered([_described(entry) for _, entry in order])
    stop = named(loop.stop_trigger)
    everywhere = comm.allgather_obj((str(loop.out), stop, _pace(loop.updater), mine))
    outs, stops, paces, owned = zip(*everywhere, strict=True)
    if len({*outs}) > 1:
        return order
    loop.epochs_agree = None not in paces and len({*paces}) == 1
    if len({*stops}) == 1:
        loop.stop_trigger = loop.agreed(loop.stop_trigger, "the stop trigger")
    ordered = _ordered(owned)
    turns = []
    for told, (name, entry) in zip(mine, order, strict=True):
        if entry.ranks == "first" and any([told in of for of in owned[: comm.rank]]):
            continue
        if entry.ranks == "together" and told in ordered:
            among = getattr(entry.extension, "among", None)
            entry.extension = entry.extension if among is None else among(comm)
            entry.trigger = loop.agreed(entry.trigger, f"the trigger of {name!r}")
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


class Agreed:
    """A trigger that fires on all ranks where it fires on the first."""

    is_alike = True

    def __init__(self, trigger: Trigger, comm: Communicator, who: str) -> None:
        self._trigger, self._comm, self._who = trigger, comm, who

    def __call__(self, trainer: Loop) -> bool:
        """Whether it fires on the first rank."""
        return bool(self._comm.tell(self._who, int(bool(self._trigger(trainer))))[0])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._trigger, name)

    def __str__(self) -> str:
        return named(self._trigger)
