"""Something that extensions are added to: who they are, and when each is called."""

from __future__ import annotations

from typing import Any, Literal

from core.errors import RemovedArgument, nearest
from core.errors.arguments import refuse_idle
from core.errors.kinds import checked
from core.errors.removed import removed
from core.errors.set_by_init import set_by_init
from core.link import Link
from core.training.extension import INVOKE_BEFORE_TRAINING, Extension, check_ranks
from core.training.trigger import Trigger, TriggerSpec, get_trigger


class Entry:
    """A registered extension, with its trigger, its priority, and the ranks that call it."""

    def __init__(
        self, extension: Any, trigger: Trigger, priority: float, call_first: bool, of_ranks: str
    ) -> None:
        self.extension = extension
        self.trigger = trigger
        self.priority = priority
        self.call_before_training = call_first
        self.ranks = of_ranks


class Extended:
    """Extensions by their names, each with its trigger and its priority."""

    _entries: dict[str, Entry] = set_by_init()
    _has_begun: bool = False
    """Whether a run has begun, in which nothing that is added would be called."""

    def __init__(self) -> None:
        self._entries = {}

    @checked
    @removed(cures={"invoke_before_training": INVOKE_BEFORE_TRAINING})
    def extend(
        self,
        extension: Any,
        name: str | None = None,
        trigger: TriggerSpec = None,
        priority: float | None = None,
        *,
        call_before_training: bool = False,
        ranks: str | None = None,
    ) -> None:
        """Add an extension: an `Extension`, or any function of the trainer.

        Where `name`, `trigger`, `priority` and `ranks` (who calls it in a job of several ranks, as
        `Extension` says) are not given, the extension's own hold. Of several
        extensions of one name the second is called `NAME_1`, the third `NAME_2`, in the order in
        which they were added. With `call_before_training` it is also called before the first
        update, in a run that is resumed too: an `Evaluator` and a `LogReport` that both are give a
        record of how the model begins. Raises RuntimeError once the run has begun.
        """
        _check_extension(extension)
        name = self._free_name(name or _own_name(extension))
        if self._has_begun:
            raise RuntimeError(
                f"{type(self).__name__}.extend: expected {name!r} before the run begins; who is "
                "called in it is known by then. Add it before, and let its trigger say when to "
                "call it."
            )
        if trigger is None:
            trigger = getattr(extension, "trigger", Extension.trigger)
        if priority is None:
            priority = getattr(extension, "priority", Extension.priority)
        if not hasattr(priority, "__neg__"):
            raise TypeError(
                f"{type(self).__name__}.extend: expected a number as the priority of {name!r}, "
                f"such as training.PRIORITY_READER; got {priority!r:.60}."
            )
        of_ranks = getattr(extension, "ranks", Extension.ranks) if ranks is None else ranks
        check_ranks(f"{type(self).__name__}.extend", of_ranks)
        if isinstance(extension, Extension):
            extension.name = name
        self._entries[name] = Entry(
            extension, get_trigger(trigger), priority, call_before_training, of_ranks
        )

    def _free_name(self, name: str) -> str:
        if name == "training":
            raise ValueError(
                f"{type(self).__name__}.extend: the name 'training' belongs to the trainer; take "
                "another."
            )
        # Slashes at the ends make no difference in the names of saved state.
        taken, free, ordinal = {each.strip("/") for each in self._entries}, name, 0
        while free.strip("/") in taken:
            ordinal += 1
            free = f"{name}_{ordinal}"
        return free

    def extension_names(self) -> list[str]:
        """The names of the extensions, in the order in which they were added."""
        return list(self._entries)

    def extension_order(self) -> list[tuple[str, Entry]]:
        """Names and entries in the order in which they are called: by priority, then as added."""
        return sorted(self._entries.items(), key=lambda item: -item[1].priority)

    def get_extension(self, name: str) -> Any:
        """Return the extension called `name`; raises ValueError if there is none."""
        if name in self._entries:
            return self._entries[name].extension
        known = ", ".join(map(repr, self._entries)) or "none"
        raise ValueError(
            f"{type(self).__name__}.get_extension: expected the name of an extension, one of "
            f"{known}; got {name!r}.{nearest(name, self._entries)}"
        )


def _check_extension(extension: Any) -> None:
    if not callable(extension):
        raise TypeError(
            "Trainer.extend: expected an Extension or a function of the trainer, got "
            f"{extension!r:.100}."
        )
    if isinstance(extension, type):
        raise TypeError(
            f"Trainer.extend: expected an extension, got the class {extension.__name__}. "
            f"Make one of it: {extension.__name__}(...)."
        )
    if isinstance(extension, Link) and not isinstance(extension, Extension):
        raise TypeError(
            "Trainer.extend: expected an Extension or a function of the trainer, got the link "
            f"{type(extension).__name__}, which takes examples. extensions.Evaluator(iterator, "
            "link) evaluates it, and extensions.snapshot_object(link, name) saves it."
        )
    refuse_idle("Trainer.extend", extension)
    if "invoke_before_training" in {*dir(type(extension)), *getattr(extension, "__dict__", {})}:
        raise RemovedArgument(
            f"{_own_name(extension)}: the attribute 'invoke_before_training' no longer exists. "
            f"{INVOKE_BEFORE_TRAINING}"
        )


def _own_name(extension: Any) -> str:
    for attribute in ("name", "default_name", "__name__"):
        name = getattr(extension, attribute, None)
        if isinstance(name, str):
            return name
    return type(extension).__name__


def call(extension: Any, method: str, *args: Any) -> None:
    """Call the method, where the extension, which may be any function, has it."""
    function = getattr(extension, method, None)
    if function is not None:
        function(*args)


class naming:
    """Let an error say which extension it comes from."""

    def __init__(
        self,
        name: str,
        method: Literal[
            "initialize",
            "__call__",
            "on_interrupt",
            "finalize",
            "collect",
            "serialize",
            "files_in_the_way",
        ],
    ) -> None:
        self._where = f"Raised by the extension {name!r} in {method}."

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, tb: Any) -> None:
        if isinstance(
            error, StopIteration
        ):  # which further out would end the loop, or lose its name
            raise RuntimeError(
                f"{self._where} StopIteration: something has come to its end there. Catch it, or "
                "give next() a default."
            ) from error
        if isinstance(error, Exception):
            error.add_note(self._where)
