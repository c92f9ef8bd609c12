"""Text files: where their lines begin, and what tells of those that are none, with the cure."""

from __future__ import annotations

import codecs
import io
import mmap
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from core.errors import DatasetDamaged
from plugins.formats import TEXT, instead

_CHUNK = 1 << 16
_BEGINNINGS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_ALIKE = bytes(range(128)) + rb"\n\u0041"
_ENDS = {"\n": rb"\n", "\r": rb"\r", "\r\n": rb"\r\n"}
_ANY_END = rb"\r\n?|\n"
_NO_TEXT = {*range(32)} - {*b"\t\n\r\f\x1b"}


def has_bytes_of_ascii(encoding: str) -> bool:
    """Whether ASCII's letters are its bytes, wherever they stand: ends of lines can be seen.

    >>> [has_bytes_of_ascii(name) for name in ("utf-8", "cp1252", "euc-jp", "utf-8-sig", "utf-7")]
    [True, True, True, False, False]
    """
    with suppress(Exception):  # of whatever codec
        return not "".encode(encoding) and _ALIKE.decode(encoding) == _ALIKE.decode("ascii")
    return False


def starts_in_bytes(text: Any, newline: str | None) -> list[int]:
    """Where lines begin in an open file whose encoding `has_bytes_of_ascii`.

    Asking it where it is, line by line, takes twenty times as long.
    """
    size = os.fstat(text.fileno()).st_size
    if not size:
        return []
    decoder = codecs.getincrementaldecoder(text.encoding)(text.errors)
    with mmap.mmap(text.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for start in range(0, size, _CHUNK):
            decoder.decode(content[start : start + _CHUNK], final=start + _CHUNK >= size)
        ends = re.finditer(_ENDS.get(newline or "", _ANY_END), content)
        starts = [0, *[end.end() for end in ends]]
    return starts[:-1] if starts[-1] == size else starts


@contextmanager
def decoding(
    who: str, path: Any, encoding: str = "utf-8", cure: str = "Save it as UTF-8.", also: str = ""
) -> Iterator[None]:
    """Raise DatasetDamaged, with file and line, for bytes that are not text in `encoding`.

    Of a file that lacks the mark with which text in the encoding begins, there is no line to tell.
    `cure` says what to do with a text in another encoding; `also` is always added.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise DatasetDamaged(
            f"{who}: expected text in {encoding!r}, got the byte {error.object[error.start]:#04x} "
            f"({error.reason}) in line {_line(path, encoding)} of {path}.{_meant(path, cure)}{also}"
        ) from None
    except UnicodeError as error:
        raise DatasetDamaged(
            f"{who}: expected text in {encoding!r} in {path}: {error}.{_meant(path, cure)}{also}"
        ) from None


def _line(path: Any, encoding: str) -> int:
    """The line, counted from 1, of the first bytes that are not text."""
    decoder: Any = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(), True)
    line: int = 1
    chunk = b"first"
    with open(path, "rb") as file:
        while chunk:
            before, chunk = decoder.getstate(), file.read(_CHUNK)
            try:
                line += decoder.decode(chunk, final=not chunk).count("\n")
            except UnicodeDecodeError as error:
                held = len(error.object) - len(chunk)  # bytes of the chunk before
                decoder.setstate(before)
                line += decoder.decode(chunk[: max(error.start - held, 0)]).count("\n")
                return line
    return line


def _meant(path: Any, cure: str) -> str:
    """What the file is, as far as its beginning tells, or what to do with a text."""
    with open(path, "rb") as file:
        head = file.read(_CHUNK)
    encoding = _BEGINNINGS.get(head[:2])
    if encoding:
        return f" It begins as text in {encoding!r} does. {cure}"
    known = instead(head, TEXT)
    return known or (" It is a binary file." if _NO_TEXT & {*head} else f" {cure}")
