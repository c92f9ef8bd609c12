"""What is refused as a dtype."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from core.errors import place
from core.errors.exceptions import BackendError
from core.errors.suggestions import nearest

if TYPE_CHECKING:
    from types import FrameType


def no_dtype(given: Any, known: Iterable[str], problem: str) -> BackendError:
    """The error for something that is not a dtype; it names the function and the argument."""
    frame: FrameType | None = sys._getframe(1)
    where = ""
    while frame is not None:  # the outermost one is what the user called
        code, values = frame.f_code, frame.f_locals
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        taken = [name for name in names if values.get(name) is given]
        if taken and place.is_ours(code.co_filename):
            constructor = code.co_name == "__init__"
            name = type(values[names[0]]).__name__ if constructor else code.co_name.lstrip("_")
            where = f"{name}: expected {taken[-1]} to be a dtype; "
        frame = frame.f_back
    return BackendError(f"{where}{problem} {given!r}.{nearest(str(given), known)}")
