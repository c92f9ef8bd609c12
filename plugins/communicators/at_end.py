"""What a process does at its end, and the children that it forks do not.

A child that ends by `sys.exit` would speak to the other ranks in the name of its parent, and take
leave of MPI for it.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from typing import Any

_calls: list[Callable[[], Any]] = []


def at_end(call: Callable[[], Any]) -> None:
    """Let this process call something at its end; the last one given is called first."""
    _calls.append(call)
    atexit.register(call)


def not_at_end(call: Callable[[], Any]) -> None:
    """Take it back."""
    _calls[:] = [each for each in _calls if each != call]
    atexit.unregister(call)


def _leave_all_out() -> None:
    for call in [*_calls]:
        not_at_end(call)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all_out)
