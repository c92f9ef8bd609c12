"""What a result was made with: versions, arguments, seed and machine."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from core.errors import place
from core.training import Extension
from plugins.training.extensions import environment
from plugins.training.extensions.report_file import ReportFile

if TYPE_CHECKING:
    from core.training import Loop

_SECRET = re.compile(r"pass(word|wd|phrase)?|secret|token|credential|api[-_]?key|auth", re.I)
_HIDDEN = "(hidden)"


class RunRecord(Extension):
    """Write what is needed to reproduce the results to `filename` in their directory.

    The file is a JSON list with an object for each time that training was started there: command
    line and `arguments` (a dict, or what argparse gives), versions of Python, plugrad, the array
    libraries and all plugins, seed, backend and devices, optimizers and settings, processors, BLAS
    and its threads, the Git commit of the script and whether it was changed since, and how the
    training ended. Arguments whose names sound like a secret are hidden, and no environment is
    recorded but the variables of plugrad and of thread counts.

        trainer.extend(extensions.RunRecord(arguments=parser.parse_args()))
    """

    priority = -200  # begins after a snapshot has loaded itself
    ranks = "first"

    def __init__(self, arguments: Any = None, filename: str = "run.json") -> None:
        self._arguments = _as_dict(arguments)
        self._filename = filename
        self._file = ReportFile("RunRecord")
        self._records: list[dict[str, Any]] = []
        self._trainer: Any = None
        self._error: str | None = None
        self._handled: BaseException | None = None

    def initialize(self, trainer: Loop) -> None:
        """Write the record of this start, after those of earlier ones."""
        self._trainer = trainer
        self._handled = sys.exc_info()[1]  # which has nothing to do with this training
        self._path = Path(trainer.out) / self._filename
        record = {
            "started": _now(),
            "ended": None,
            "command": _without_secrets(sys.orig_argv),
            "arguments": self._arguments,
            **environment.of(trainer),
        }
        self._records = [*_earlier(self._path), record]
        self._write()

    def trigger(self, trainer: Loop) -> bool:
        """Never: all is done at the beginning and at the end."""
        return False

    def __call__(self, trainer: Loop) -> None:
        """Nothing."""

    def on_error(self, trainer: Loop, exc: Exception, tb: TracebackType | None) -> None:
        """Note the error that ended the training."""
        self._error = f"{type(exc).__name__}: {exc}"

    def on_interrupt(self, trainer: Loop) -> None:
        """Note that a signal ended the training."""
        self._error = "interrupted by a signal"

    def finalize(self) -> None:
        """Write how it ended, and how far it got."""
        if self._trainer is None:
            return
        record, trainer = self._records[-1], self._trainer
        ending, handled, self._handled = sys.exc_info()[1], self._handled, None
        if self._error is None and ending is not None and ending is not handled:
            self._error = repr(ending)  # a second Ctrl-C, or sys.exit(): not told by `on_error`
        record["ended"] = _now()
        for name, now in environment.optimizers(trainer).items():
            record["optimizers"][name]["parameters"] = now["parameters"]  # all have a shape by now
        record["error"] = self._error
        record["iteration"] = trainer.updater.iteration
        record["elapsed_time"] = round(trainer.elapsed_time, 3)
        self._trainer = None
        self._write()
        self._file.finish()

    def _write(self) -> None:
        text = json.dumps(self._records, indent=2, default=repr) + "\n"
        self._file.write(self._path, lambda path: path.write_text(text, encoding="utf-8"))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _as_dict(arguments: Any) -> dict[str, Any] | None:
    if arguments is None:
        return None
    found = arguments if isinstance(arguments, Mapping) else getattr(arguments, "__dict__", None)
    if found is None:
        raise TypeError(
            "RunRecord: expected arguments as a dict or as argparse gives them, got "
            f"{type(arguments).__name__}."
        )
    return {
        str(name): _HIDDEN if _SECRET.search(str(name)) else value for name, value in found.items()
    }


def _without_secrets(command: list[str]) -> list[str]:
    """The command line, without the values of options that sound like a secret.

    >>> _without_secrets(["train.py", "--api-key=x", "--token", "y", "--epoch", "3"])
    ['train.py', '--api-key=(hidden)', '--token', '(hidden)', '--epoch', '3']
    """
    shown: list[str] = []
    for word in command:
        name, equals, _ = word.partition("=")
        secret = name.startswith("-") and _SECRET.search(name)
        before = shown[-1] if shown else ""
        if secret and equals:
            shown.append(f"{name}={_HIDDEN}")
        elif before.startswith("-") and "=" not in before and _SECRET.search(before):
            shown.append(_HIDDEN)
        else:
            shown.append(word)
    return shown


def _earlier(path: Path) -> list[dict[str, Any]]:
    """The records of earlier starts in the same directory."""
    if not path.exists():
        return []
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(records, list):
            return records
    except ValueError:
        pass
    place.warn(
        f"RunRecord: {path} is not a list of records, and is replaced. Give another filename if it "
        "is to be kept.",
    )
    return []
