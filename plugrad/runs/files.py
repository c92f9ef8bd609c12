"""Which files of a folder of results may be read: regular ones that lie in it."""

from __future__ import annotations

import os
import stat
from collections import deque
from pathlib import Path
from typing import NamedTuple

MOST_ENTRIES, MOST_DEPTH = 20_000, 5
MOST_BYTES = 256 * 2**20


class Found(NamedTuple):
    """A file: where it is, what it is called from the root, and what changes when it does."""

    path: Path
    folder: str
    name: str
    stamp: tuple[int, int, int]

    @property
    def changed(self) -> float:
        """When it was last written, in seconds."""
        return self.stamp[1] / 1e9


class Tree(NamedTuple):
    """The files in and below a folder, and what was passed over."""

    files: list[Found]
    problems: list[str]


def walk(root: Path) -> Tree:
    """List the files; links that lead out of the folder are told, and not followed."""
    real = root.resolve()
    files: list[Found] = []
    problems: list[str] = []
    left, seen = deque([("", 0)]), 0
    while left:
        folder, depth = left.popleft()
        try:
            entries = sorted(os.scandir(real / folder), key=lambda entry: entry.name)
        except OSError as error:
            problems.append(f"{folder or '.'} cannot be listed: {error.strerror}")
            continue
        for entry in entries:
            if entry.name.startswith("."):  # also what is being written
                continue
            seen += 1
            if seen > MOST_ENTRIES:
                problems.append(f"Only the first {MOST_ENTRIES} files and folders are looked at.")
                return Tree(files, problems)
            name = f"{folder}/{entry.name}".lstrip("/")
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth < MOST_DEPTH:
                        left.append((name, depth + 1))
                    continue
                path = Path(entry.path)
                if entry.is_symlink():
                    path = path.resolve()
                    if not path.is_relative_to(real):
                        problems.append(f"{name} is a link that leads out of the folder.")
                        continue
                found = path.stat()
            except (OSError, RuntimeError):  # gone meanwhile, or a link to itself
                continue
            if stat.S_ISREG(found.st_mode):
                stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
                files.append(Found(path, folder, entry.name, stamp))
    return Tree(files, problems)


def read(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content, or the first `most` bytes of it; raises OSError where it is no regular file."""
    # What was a file when it was listed may be a pipe by now, which would never end.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        return file.read(most)
