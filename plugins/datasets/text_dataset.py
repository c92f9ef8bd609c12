"""The lines of text files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from core.dataset import DatasetMixin
from core.errors.kinds import checked
from plugins.datasets.per_process import PerProcess
from plugins.datasets.text_files import decoding, has_bytes_of_ascii, starts_in_bytes
from plugins.datasets.there import there

_CURE = (
    "Give the encoding that it was written in, such as encoding='cp1252', or errors='replace' to "
    "skip what cannot be decoded."
)


class TextDataset(DatasetMixin):
    r"""The lines of a text file, or the tuples of lines of several files, read when asked for.

    `paths` is one path or several; files that are read side by side must have as many lines. A line
    keeps its end. `encoding`, `errors` and `newline` are those of `open`, or lists of one for each
    path. With `filter_func`, only
    those lines are taken for which it is true; it is called with a line of each file.
    Making the dataset reads the files once, to find where lines begin; each process and each
    pickled copy opens them for itself. Raises DatasetMissing where there is no file,
    ValueError for files of different lengths, and DatasetDamaged, with the line, for a file that is
    not text in the encoding.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "words.txt")
    ...     with open(path, "w") as file:
    ...         print("one", "two", "three", sep="\n", file=file)
    ...     lines = TextDataset(path, encoding="utf-8", filter_func=lambda line: "o" in line)
    ...     lines[:]
    ['one\n', 'two\n']
    """

    @checked
    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        encoding: str | Sequence[str | None] | None = None,
        errors: str | Sequence[str | None] | None = None,
        newline: str | Sequence[str | None] | None = None,
        filter_func: Callable[..., Any] | None = None,
    ) -> None:
        names = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        if not names:
            raise ValueError("TextDataset: expected at least one path, got none.")
        given = {"encoding": encoding, "errors": errors, "newline": newline}
        each = {what: _for_each(what, value, len(names)) for what, value in given.items()}
        self._files = [
            PerProcess(
                partial(
                    there, "TextDataset", open, name, **{what: v[i] for what, v in each.items()}
                )
            )
            for i, name in enumerate(names)
        ]
        starts = list(map(_starts, names, self._files, each["newline"]))
        if len({len(found) for found in starts}) > 1:
            told = ", ".join(f"{name} has {len(s)}" for name, s in zip(names, starts, strict=True))
            raise ValueError(f"TextDataset: expected files of equally many lines; {told}.")
        self._places = np.stack([np.asarray(found) for found in starts], axis=1)
        if filter_func is not None:
            self._places = self._places[self._taken(filter_func)]

    def _taken(self, filter_func: Callable[..., Any]) -> Any:
        """Whether each line is taken: the files are read through once more."""
        with ExitStack() as stack:
            texts = [stack.enter_context(file.use()) for file in self._files]
            for text in texts:
                text.seek(0)
            lines = zip(*[iter(text.readline, "") for text in texts], strict=True)
            return np.array([bool(filter_func(*each)) for each in lines], dtype=bool)

    def __len__(self) -> int:
        return len(self._places)

    def get_example(self, i: int) -> Any:
        """The line at position `i`, or the tuple of lines."""
        lines = tuple(map(_line, self._files, self._places[i].tolist()))
        return lines[0] if len(lines) == 1 else lines

    def close(self) -> None:
        """Close the files; they are opened anew when a line is asked for."""
        for file in self._files:
            file.close()


def _for_each(what: str, value: Any, count: int) -> list[Any]:
    """What each of the files is opened with."""
    if value is None or isinstance(value, str):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"TextDataset: expected {what} to be one for all files, or a list of {count}, got "
            f"{len(value)}."
        )
    return list(value)


def _line(file: PerProcess, place: int) -> str:
    with file.use() as text:
        text.seek(place)
        return str(text.readline())


def _starts(name: Any, file: PerProcess, newline: str | None) -> list[int]:
    """Where each line begins, as `tell` has it, which knows of multi-byte encodings."""
    with file.use() as text, decoding("TextDataset", name, text.encoding, _CURE):
        if has_bytes_of_ascii(text.encoding):
            return starts_in_bytes(text, newline)
        starts: list[int] = []
        while True:
            place = text.tell()
            if not text.readline():
                return starts
            starts.append(place)
