"""Profiles in the Trace Event Format, which Perfetto and Chrome's tracing page open."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from plugins.function_hooks.profile import Call
from plugins.serializers.atomic import replacing

_MICRO = 1e-3  # a nanosecond in microseconds, the unit of the format


def write(
    path: str | os.PathLike[str], calls: Iterable[Call], threads: Sequence[str], origin: int
) -> None:
    """Write the trace to `path`: the old file, if any, stays until the new one is complete.

    `threads` has their names, `origin` is the time that counts as zero.
    """
    process = os.getpid()
    events = [*_names(process, threads), *(_event(call, process, origin) for call in calls)]
    text = json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _names(process: int, threads: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Metadata events ("M"): what the process and its threads are called, and their order."""
    yield {"name": "process_name", "ph": "M", "pid": process, "args": {"name": "plugrad"}}
    for row, name in enumerate(threads):
        common = {"ph": "M", "pid": process, "tid": row}
        yield {"name": "thread_name", **common, "args": {"name": name}}
        yield {"name": "thread_sort_index", **common, "args": {"sort_index": row}}


def _event(call: Call, process: int, origin: int) -> dict[str, Any]:
    """A complete event ("X"): a bar from `ts` on, `dur` long."""
    args: dict[str, Any] = {"link": call.link} if call.link else {}
    if call.phase != "link":
        args["shapes"] = [list(shape) for shape, _ in call.inputs]
        args["dtypes"] = [dtype for _, dtype in call.inputs]
    if call.memory is not None:
        args["memory"] = call.memory
    return {
        "name": call.function,
        "cat": call.phase,
        "ph": "X",
        "ts": (call.start - origin) * _MICRO,
        "dur": call.total * _MICRO,
        "pid": process,
        "tid": call.thread,
        "args": args,
    }
