"""Arguments of a loop in memory, where another thread finds them; `kernels.calling` puts them."""

from __future__ import annotations

from typing import Any

STRIDE = 2048
"""Bytes of what is packed, at most."""

FAILED = STRIDE - 8
"""Where of these a part writes 1 that had no memory for the arrays that it makes."""

THREAD = "thread"
"""A loop's parameter of this name is the number of the thread, 0 for the one that has the parts."""

START, STOP = "start", "stop"
"""Parameters of these names are where the part begins and ends, where one packing has them all."""


def check(words: Any) -> None:
    """Raise where a part failed that is packed in a row of these whole numbers."""
    failed = words[:, FAILED // 8]  # of one row mostly, which is looked at in a tenth of the time
    if failed[0] if len(failed) == 1 else failed.any():
        failed[:] = 0
        raise MemoryError("A compiled loop had no memory for the arrays that it makes.")
