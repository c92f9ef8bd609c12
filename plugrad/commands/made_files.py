"""Files that a command makes from what is installed: written where they are stale, or checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from core.errors import CoreError
from core.show.report import Report


def made(root: Path, files: Mapping[str, str], what: str, command: str, check: bool) -> Report:
    """Write the files that differ from their texts, or with `check` say which these are.

    `files` has a text for each path under `root`; `command` makes them anew, and `what` names them.
    """
    stale = [name for name, text in files.items() if _read(root / name) != text]
    if check:
        text = f"Stale: {', '.join(stale)}. Run `{command}`." if stale else f"All {what} are fresh."
        return Report({"stale": stale, "fresh": not stale}, text, int(bool(stale)))
    for name in stale:
        _write(root / name, files[name])
    written = ", ".join(stale) or "nothing, all are fresh"
    return Report({"written": stale, "root": str(root)}, f"Written under {root}: {written}.")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None


def _write(path: Path, text: str) -> None:
    """Write a whole file, and its folder; raises CoreError where that cannot be."""
    temporary = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise CoreError(f"cannot write {path}: {error.strerror or error}") from error
