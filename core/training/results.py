"""Result directories: each run has its own, and no earlier result is overwritten."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

_SHOWN = 5


def set_aside(
    out: str | os.PathLike[str], files: Collection[Path], aside: Path | None = None
) -> Path:
    """Move files of an earlier run from `out` into a directory in it, and return that.

    It is a new one, unless there is one `aside` that has room for them.

    >>> import tempfile
    >>> out = Path(tempfile.mkdtemp())
    >>> _ = (out / "log").write_text("[]")
    >>> set_aside(out, [out / "log"]).name, sorted(path.name for path in out.iterdir())
    ('earlier-1', ['earlier-1'])
    """
    if aside is None or any([(aside / path.relative_to(out)).exists() for path in files]):
        aside = _new(lambda number: Path(out) / f"earlier-{number}", 1)
    for path in files:
        target = aside / path.relative_to(out)
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # another run, that begins as well, has moved it
            os.replace(path, target)
    return aside


def new_directory(path: str | os.PathLike[str]) -> str:
    """Make a directory for a new run: `path`, or if it exists 'path-2', 'path-3', ...

    It is made at once, so that of several runs that begin together each has one of its own. To
    resume, name the directory of the run instead.

    >>> import tempfile
    >>> result = os.path.join(tempfile.mkdtemp(), "result")
    >>> [os.path.basename(new_directory(result)) for _ in range(3)]
    ['result', 'result-2', 'result-3']
    """
    path = Path(path)
    try:
        path.mkdir(parents=True)
        return str(path)
    except FileExistsError:
        return str(_new(lambda number: path.with_name(f"{path.name}-{number}"), 2))


def _new(named: Callable[[int], Path], number: int) -> Path:
    """The first directory from `number` on that does not exist yet, made."""
    while True:
        try:
            named(number).mkdir()
            return named(number)
        except FileExistsError:
            number += 1


def told(who: str, out: str | os.PathLike[str], aside: Path, files: list[Path]) -> str:
    """What is said of files that were set aside."""
    shown = [str(path.relative_to(out)) for path in files[:_SHOWN]]
    left = len(files) - len(shown)
    names = ", ".join(shown) + (f" and {left} more" if left else "")
    return (
        f"{who}: {os.fspath(out)!r} holds results of an earlier run ({names}), which this one "
        f"would replace; they were moved to {str(aside)!r}. To go on with a run, load its "
        "snapshot, as by extensions.snapshot(autoload=True). To keep runs apart, choose another "
        f"directory, as by out=training.new_directory({os.fspath(out)!r})."
    )
