"""Extensions, which a trainer calls between its updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import nearest, refuse_unknown
from core.errors.kinds import checked
from core.errors.removed import removed
from core.errors.set_by_init import refuse_forgotten
from core.errors.slips import TellsSlips
from core.link.serializer import AbstractSerializer
from core.training.trigger import TriggerSpec

if TYPE_CHECKING:
    from pathlib import Path

    from core.training.communicator import Communicator

PRIORITY_WRITER = 300
"""For extensions that add values to the observation."""
PRIORITY_EDITOR = 200
"""For extensions that change values of the observation."""
PRIORITY_READER = 100
"""For extensions that only read the observation."""

_RANKS = ("each", "first", "together")

_Function = TypeVar("_Function", bound=Callable[..., Any])

INVOKE_BEFORE_TRAINING = (
    "Override initialize(trainer), or pass initializer=... to make_extension: it is called before "
    "the first update. To call the extension itself then, extend(..., call_before_training=True)."
)


class Extension(TellsSlips):
    """Called by the trainer whenever its trigger fires; any callable of the trainer can be one.

    `trigger` (as `get_trigger` takes it), `priority` (higher is called first) and `ranks` can be
    set by the class and overridden in `Trainer.extend`, which also sets `name`.

    `ranks` says who calls it where several ranks of a job train together and all have it:

    - 'each': every rank, by its own trigger. So it is with functions, too: what changes the
      training has to do so everywhere.
    - 'first': the first rank alone, and no method of it on the others. For what prints, or writes
      about the model and what this rank observes.
    - 'together': all ranks in the same iteration, in which they may exchange what they have by
      `communicator`; the one that `leads` writes.
    """

    trigger: Any = (1, "iteration")
    priority: int = PRIORITY_READER
    name: str | None = None
    ranks: str = "each"
    communicator: Communicator | None = None
    """That of the ranks which call this together; None where one calls it for itself."""

    @property
    def default_name(self) -> str:
        """The name of the extension if none is given: that of its class."""
        return type(self).__name__

    def __call__(self, trainer: Any, /) -> Any:
        """Run the extension; the trainer calls this when the trigger fires."""

    def __getattr__(self, name: str) -> Any:
        if name == "invoke_before_training":
            refuse_unknown(type(self).__name__, [name], (), {name: INVOKE_BEFORE_TRAINING})
        refuse_forgotten(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def among(self, communicator: Communicator) -> Any:
        """Return what all ranks call together, by default this extension with the `communicator`.

        Called before `initialize` where `ranks` is 'together' and all ranks have the extension.
        """
        self.communicator = communicator
        return self

    @property
    def leads(self) -> bool:
        """Whether this rank writes what the ranks have made together; so does one for itself."""
        return self.communicator is None or self.communicator.rank == 0

    def collect(self) -> None:
        """Called on all ranks before the state of the first is saved for all of them.

        What each has for itself is to go to the first one.
        """

    def initialize(self, trainer: Any, /) -> None:
        """Called once before the first update of a run, also of a resumed one."""

    def files_in_the_way(self, trainer: Any, /) -> Iterable[tuple[Path, str | None]]:
        """List existing files that this extension will write, with the run that wrote each.

        None stands for a run that is not known. Asked once, after `initialize`; those of other
        runs are moved to a directory of their own before the first update.
        """
        return ()

    def on_error(self, trainer: Any, exc: Exception, tb: TracebackType | None, /) -> None:
        """Called when an update or an extension has raised `exc`, before `finalize`."""

    def on_interrupt(self, trainer: Any, /) -> None:
        """Called when SIGINT or SIGTERM ends the run, after an iteration and before `finalize`."""

    def how_to_resume(self, trainer: Any, /) -> str | None:
        """Return what to print after the run was stopped: what is saved, and how to continue.

        Called after `finalize`; None where nothing is.
        """
        return None

    def finalize(self) -> None:
        """Called once when the run ends, successfully or not."""

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the state that the extension keeps between calls."""


def check_ranks(who: str, ranks: Any) -> None:
    """Raise ValueError unless `ranks` is what `Extension` says."""
    if ranks not in _RANKS:
        raise ValueError(
            f"{who}: expected ranks 'each', 'first' or 'together', got {ranks!r}."
            + nearest(str(ranks), _RANKS)
        )


@checked
@removed(cures={"invoke_before_training": INVOKE_BEFORE_TRAINING})
def make_extension(
    trigger: TriggerSpec = None,
    default_name: str | None = None,
    priority: int | None = None,
    finalizer: Callable[[], Any] | None = None,
    initializer: Callable[[Any], Any] | None = None,
    on_error: Callable[[Any, Exception, TracebackType | None], Any] | None = None,
    *,
    ranks: str = "each",
) -> Callable[[_Function], _Function]:
    """Decorate a function of the trainer to make it an extension with these attributes.

    `initializer`, `on_error` and `finalizer` become what the trainer calls as the methods
    `initialize`, `on_error` and `finalize`. For `ranks` see `Extension`.

    >>> @make_extension(trigger=(10, "iteration"), default_name="hello")
    ... def greet(trainer):
    ...     print("ten more")
    >>> greet.trigger, greet.default_name, greet.priority
    ((10, 'iteration'), 'hello', 100)
    """

    def decorate(function: _Function) -> _Function:
        attributes = {
            "trigger": Extension.trigger if trigger is None else trigger,
            "default_name": default_name or getattr(function, "__name__", "extension"),
            "priority": Extension.priority if priority is None else priority,
            "finalize": finalizer,
            "initialize": initializer,
            "on_error": on_error,
            "ranks": ranks,
        }
        for name, value in attributes.items():
            setattr(function, name, value)
        return function

    return decorate
