"""Other packages called `core`, `backends` or `plugins`, which Python may import for ours."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "backends", "plugins")


def shadows(directory: Path | None = None, search: Sequence[str] | None = None) -> Iterator[str]:
    """A sentence for each regular package or module of one of our names that is not ours.

    Looked for in the working directory, which `python -m` and `python -c` search first, and along
    `sys.path`. A folder without `__init__.py` is not a danger: a regular package wins over it.
    """
    here = (directory or Path.cwd()).resolve()
    seen: set[Path] = set()
    for entry in [here, *(Path(part).resolve() for part in (search or sys.path) if part)]:
        if entry in seen or entry == ROOT:
            continue
        seen.add(entry)
        for package in PACKAGES:
            file = _regular(entry, package)
            if file is not None and not file.is_relative_to(ROOT / package):
                yield _sentence(file, package, entry == here)


def _regular(entry: Path, package: str) -> Path | None:
    for file in (entry / package / "__init__.py", entry / f"{package}.py"):
        if file.is_file():
            return file.resolve()
    return None


def _sentence(file: Path, package: str, in_directory: bool) -> str:
    when = (
        "under `python -m`, `python -c` and for scripts in this folder"
        if in_directory
        else "wherever its folder comes first on sys.path"
    )
    return f"{file} shadows plugrad's package {package!r} in {ROOT} {when}: rename or move it"
