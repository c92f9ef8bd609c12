"""What is given open in place of a path: a file of bytes."""

from __future__ import annotations

from typing import Any

_METHODS = {"reading": "read", "writing": "write"}


def check_open(who: str, file: Any, doing: str) -> None:
    """Raise TypeError, in the name of `who`, for what is no file open for `doing` bytes.

    Files of text have an encoding, wherever they come from.

    >>> from io import BytesIO, StringIO
    >>> check_open("load_npz", BytesIO(), "reading")
    >>> try:
    ...     check_open("load_npz", StringIO(), "reading")
    ... except TypeError as error:
    ...     print(str(error)[-41:])
    It is one of text: open it in mode 'rb'.
    """
    method = _METHODS[doing]
    if hasattr(file, method) and not hasattr(file, "encoding"):
        return
    mode = f"{method[0]}b"
    text = f" It is one of text: open it in mode {mode!r}." if hasattr(file, method) else ""
    raise TypeError(
        f"{who}: expected a path, or a file open for {doing} bytes; got {file!r:.60}.{text}"
    )
