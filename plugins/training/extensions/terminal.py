"""The terminal that extensions print to, which may lack characters or be closed."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Callable
from typing import Any, TextIO

from core.errors import place


class Terminal:
    """`out`, or the standard output as it is when something is printed.

    When it is no longer there (a closed pipe, a closed file, a full disk), the training goes on
    without it: `who` prints warns once, and nothing is printed any more.
    """

    def __init__(self, who: str, out: TextIO | None) -> None:
        self._who = who
        self._out = out
        self._gone = False

    @property
    def out(self) -> Any:
        """Where to print; None if the program has no standard output."""
        return sys.stdout if self._out is None else self._out

    @property
    def is_terminal(self) -> bool:
        """Whether lines can be redrawn."""
        try:
            return bool(getattr(self.out, "isatty", bool)())
        except ValueError:  # it is closed
            return False

    @property
    def width(self) -> int:
        """The number of columns; unlimited for a file."""
        return shutil.get_terminal_size().columns if self.is_terminal else sys.maxsize

    def shows(self, text: str) -> bool:
        """Whether the encoding has the characters."""
        try:
            text.encode(getattr(self.out, "encoding", None) or "utf-8")
        except UnicodeEncodeError:
            return False
        return True

    def fit(self, text: str) -> str:
        """The text with escapes for the characters that the encoding lacks."""
        if self.shows(text):
            return text
        encoding = self.out.encoding
        return text.encode(encoding, "backslashreplace").decode(encoding)

    def do(self, write: Callable[[], Any]) -> None:
        """Write, unless the terminal is closed."""
        if self._gone or self.out is None:
            return
        try:
            write()
        except (OSError, ValueError) as error:
            if isinstance(error, ValueError) and not getattr(self.out, "closed", False):
                raise
            self._gone = True
            place.warn(
                f"{self._who}: the output cannot be written to any more ({error}). Training goes "
                "on without it; LogReport keeps the figures in a file.",
            )

    def print(self, text: str) -> None:
        """Print lines, above any progress bars on the terminal."""
        self.do(lambda: _print_above_bars(text, self.out))


def _print_above_bars(text: str, out: TextIO) -> None:
    tqdm = sys.modules.get("tqdm")
    if tqdm is None:
        print(text, file=out)
    else:
        tqdm.tqdm.write(text, file=out)
    out.flush()


def columns(text: str) -> int:
    """How many columns of a terminal the text takes: characters of East Asia take two.

    >>> columns("loss"), columns("損失")
    (4, 4)
    """
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def right(text: str, width: int) -> str:
    """The text at the right side of a column."""
    return " " * (width - columns(text)) + text
