"""Snapshots: the state of the training, saved while it runs."""

from __future__ import annotations

import re
import string
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from core.errors import CheckpointDamaged, CheckpointError, refuse_removed
from core.training import Extension
from plugins.serializers.atomic import remove_stale_temporaries, replacing
from plugins.serializers.npz import load_npz, save_npz

Save = Callable[[Any, Any], Any]
_ASIDE = ".damaged"
_SINCE_V2 = {
    "trigger": "Pass it to Trainer.extend: "
    "trainer.extend(extensions.snapshot(), trigger=(1000, 'iteration'))."
}


def snapshot(
    savefun: Save | None = None,
    filename: str | Callable[[Any], str] = "snapshot_iter_{.updater.iteration}",
    *,
    target: Any = None,
    condition: Callable[[], bool] | None = None,
    n_retains: int = -1,
    autoload: bool = False,
    snapshot_on_error: bool = False,
    snapshot_on_interrupt: bool | None = None,
    **kwargs: Any,
) -> Snapshot:
    """An extension that saves the whole trainer, once an epoch unless extended with a trigger.

    A file appears complete under its name or not at all, whenever the process may be killed.
    `filename`, in the trainer's directory, is a format string of the trainer or a function of it.

    - `savefun(path, object)` saves; by default `save_npz`.
    - `target` is saved in place of the trainer.
    - `condition()` is asked whether to save, each time.
    - `n_retains` is how many snapshots to keep, the newest ones; -1 keeps all.
    - `autoload` loads the newest snapshot in the directory, if any, when the run begins. One that
      turns out to be damaged is put aside under the ending '.damaged', with a warning, and the one
      before it is taken. One that does not fit the trainer is an error.
    - `snapshot_on_error` saves also when training ends by an exception.
    - `snapshot_on_interrupt` saves also when training ends by SIGINT or SIGTERM: by default where
      the whole trainer is saved. Pass False where the file is that of the best result so far.
    """
    refuse_removed("snapshot", kwargs, _SINCE_V2, snapshot)
    made = Snapshot(filename, savefun, target)
    made.condition = condition
    made.n_retains = n_retains
    made.autoload = autoload
    made.snapshot_on_error = snapshot_on_error
    made.snapshot_on_interrupt = (
        target is None if snapshot_on_interrupt is None else snapshot_on_interrupt
    )
    made.check()
    return made


def snapshot_object(
    target: Any,
    filename: str | Callable[[Any], str],
    savefun: Save | None = None,
    **kwargs: Any,
) -> Snapshot:
    """An extension that saves `target`, as a model; arguments are those of `snapshot`."""
    refuse_removed(
        "snapshot_object", {k: v for k, v in kwargs.items() if k in _SINCE_V2}, _SINCE_V2
    )
    made = snapshot(savefun, filename, target=target, **kwargs)
    made.default_name = "snapshot_object"
    return made


class Snapshot(Extension):
    """What `snapshot` and `snapshot_object` make."""

    trigger = (1, "epoch")
    priority = -100  # after all others, so that their state is that of the end of the iteration
    default_name = "snapshot"
    n_retains = -1
    autoload = False
    snapshot_on_error = False
    snapshot_on_interrupt = False

    def __init__(
        self, filename: str | Callable[[Any], str], savefun: Save | None, target: Any
    ) -> None:
        self._filename = filename
        self._savefun = savefun
        self._target = target
        self.condition: Callable[[], bool] | None = None

    def check(self) -> None:
        """Refuse settings that contradict each other; raises ValueError."""
        if self.n_retains == 0 or self.n_retains < -1:
            raise ValueError(
                "snapshot: expected n_retains of 1 or more, or -1 to keep all; "
                f"got {self.n_retains}."
            )
        if callable(self._filename) and (self.autoload or self.n_retains > 0):
            raise ValueError(
                "snapshot: autoload and n_retains need to find earlier snapshots by their names. "
                "Give filename as a format string, such as 'snapshot_iter_{.updater.iteration}'."
            )
        if self._savefun not in (None, save_npz) and self.autoload:
            raise ValueError(
                "snapshot: autoload reads npz files; leave savefun out, or load the file yourself."
            )

    def initialize(self, trainer: Any) -> None:
        """Clean up after a killed run, and load its newest good snapshot if `autoload` is set."""
        remove_stale_temporaries(trainer.out)
        if self.autoload:
            self._load_newest(trainer)

    def __call__(self, trainer: Any) -> None:
        """Save, then remove what is not to be kept."""
        if self.condition is not None and not self.condition():
            return
        path = self._path(trainer)
        target = trainer if self._target is None else self._target
        if self._savefun is None:
            save_npz(path, target)
        else:
            with replacing(path) as temporary:
                self._savefun(temporary, target)
        if self.n_retains > 0:
            self._remove_old(path)

    def on_error(self, trainer: Any, exc: Exception, tb: TracebackType | None) -> None:
        """Save the state in which the error was met, if asked to."""
        if self.snapshot_on_error:
            self(trainer)

    def on_interrupt(self, trainer: Any) -> None:
        """Save the state to resume from, unless told not to."""
        if self.snapshot_on_interrupt:
            self(trainer)

    def _path(self, trainer: Any) -> Path:
        name = self._filename
        return Path(trainer.out) / (name(trainer) if callable(name) else name.format(trainer))

    # -- earlier snapshots ---------------------------------------------------------------------

    def _found(self, directory: Path) -> list[Path]:
        """The snapshots in a directory, the oldest first."""
        pattern = _pattern(Path(str(self._filename)).name)
        names = (path for path in directory.iterdir() if pattern.fullmatch(path.name))
        return sorted((path for path in names if not path.name.endswith(_ASIDE)), key=_age)

    def _remove_old(self, newest: Path) -> None:
        """Keep the newest ones; the one just written is among them in any case."""
        others = [path for path in self._found(newest.parent) if path.name != newest.name]
        for path in others[: len(others) + 1 - self.n_retains]:
            path.unlink(missing_ok=True)

    def _load_newest(self, trainer: Any) -> None:
        found = self._found(self._path(trainer).parent)
        for path in reversed(found):
            try:
                load_npz(path, trainer if self._target is None else self._target)
            except CheckpointDamaged as error:
                _put_aside(path, error)
            else:
                print(f"Resumed from {path}", file=sys.stderr)
                return
        if found:
            raise CheckpointError(
                f"snapshot: expected a good snapshot in {trainer.out}, but all {len(found)} are "
                "damaged; they were put aside. Run again to start from the beginning."
            )


def _pattern(filename: str) -> re.Pattern[str]:
    """What the names that a format string gives look like."""
    parts = string.Formatter().parse(filename)
    return re.compile(
        "".join(re.escape(text) + ("" if field is None else r"(.+)") for text, field, *_ in parts)
    )


def _age(path: Path) -> tuple[int, list[int]]:
    """Sorts snapshots by the time they were written, those of one moment by their numbers.

    Not by number first: an earlier, longer run may have left its snapshots in the directory.
    """
    return path.stat().st_mtime_ns, [int(n) for n in re.findall(r"\d+", path.name)]


def _put_aside(path: Path, error: CheckpointDamaged) -> None:
    aside = path.with_name(path.name + _ASIDE)
    path.replace(aside)
    warnings.warn(
        f"snapshot: {path} is damaged and was put aside as {aside.name}; resuming from the one "
        f"before it. {error}",
        stacklevel=4,
    )
