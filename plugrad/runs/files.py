"""Which files of a folder of results may be read: regular ones that lie in it."""

from __future__ import annotations

import os
import stat
from collections import deque
from contextlib import suppress
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
    tree = Tree([], [])
    left, seen = deque([("", 0)]), 0
    while left:
        folder, depth = left.popleft()
        try:
            entries = sorted(os.scandir(real / folder), key=lambda entry: entry.name)
        except OSError as error:
            tree.problems.append(f"{folder or '.'} cannot be listed: {error.strerror}")
            continue
        # what is hidden may also be what is being written
        visible = [each for each in entries if not each.name.startswith(".")]
        for entry in visible[: MOST_ENTRIES - seen]:
            with suppress(OSError, RuntimeError):  # gone meanwhile, or a link to itself
                if not entry.is_dir(follow_symlinks=False):
                    _note(entry, folder, real, tree)
                elif depth < MOST_DEPTH:
                    left.append((f"{folder}/{entry.name}".lstrip("/"), depth + 1))
        seen += len(visible)
        if seen > MOST_ENTRIES:
            told = f"Only the first {MOST_ENTRIES} files and folders are looked at."
            tree.problems.append(told)
            break
    return tree


def _note(entry: os.DirEntry[str], folder: str, real: Path, tree: Tree) -> None:
    """Take note of a regular file, or of a link that leads elsewhere."""
    path = Path(entry.path)
    if entry.is_symlink():
        path = path.resolve()
        if not path.is_relative_to(real):
            name = f"{folder}/{entry.name}".lstrip("/")
            tree.problems.append(f"{name} is a link that leads out of the folder.")
            return
    found = path.stat()
    if stat.S_ISREG(found.st_mode):
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        tree.files.append(Found(path, folder, entry.name, stamp))


def read(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content, or the first `most` bytes of it; raises OSError where it is no regular file."""
    # What was a file when it was listed may be a pipe by now, which would never end.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        return file.read(most)
