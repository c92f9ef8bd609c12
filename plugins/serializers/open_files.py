"""What is given open in place of a path: a file of bytes."""

from __future__ import annotations

import os
from typing import Any

_METHODS = {"reading": "read", "writing": "write"}


def check_open(who: str, file: Any, doing: str, by_path: str = "") -> None:
    """Raise TypeError, in the name of `who`, for what is no file open for `doing` bytes.

    Files of text have an encoding, wherever they come from. `by_path` is what to call with a path,
    where `who` takes none.

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
    expected = "a file" if by_path else "a path, or a file"
    text = f" It is one of text: open it in mode {mode!r}." if hasattr(file, method) else ""
    if by_path and isinstance(file, str | os.PathLike):
        text = f" {by_path}(path) opens it."
    raise TypeError(f"{who}: expected {expected} open for {doing} bytes; got {file!r:.60}.{text}")
