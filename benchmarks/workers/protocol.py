"""The measured side of the worker protocol: one JSON object a line, in and out.

A worker starts, announces ``{"ready": true, "versions": {...}}`` and then answers requests
``{"case": name, "repeat": n, "gc": "off"}`` with the slice it measured, until its input ends.
Only the standard library is used, so that the file runs in any peer's environment.
"""

import gc
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable
from time import perf_counter, process_time
from typing import IO, Any

Case = Callable[[int], None]

REPETITIONS = 33
"""Times the chain repeats mul, add, tanh; one more mul makes the 100 operations."""

OPERATIONS = 3 * REPETITIONS + 1


def calibrate() -> float:
    """Time a fixed piece of pure Python: it takes longer only when the machine is disturbed."""
    start = perf_counter()
    total = 0
    for i in range(20_000):
        total += i & 7
    return perf_counter() - start


def measure(case: Case, repeat: int, collector: str) -> dict[str, float]:
    """Run one slice. Whatever earlier cases left behind is collected before the clock starts."""
    gc.collect()
    if collector == "off":
        gc.disable()
    before = calibrate()
    wall, cpu = perf_counter(), process_time()
    case(repeat)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    after = calibrate()
    gc.enable()
    return {"repeat": repeat, "wall": wall, "cpu": cpu, "before": before, "after": after}


def answer(line: str, cases: dict[str, Case]) -> dict[str, Any]:
    """Turn a request into its reply; an exception becomes a reply as well."""
    try:
        request = json.loads(line)
        return measure(cases[request["case"]], request["repeat"], request["gc"])
    except Exception:
        return {"error": traceback.format_exc()}


def serve(cases: dict[str, Case], versions: dict[str, str]) -> None:
    """Announce the worker, then answer until standard input ends."""
    replies = _own_stdout()
    versions = {"python": platform.python_version(), **versions}
    print(json.dumps({"ready": True, "versions": versions}), file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(line, cases)), file=replies, flush=True)


def _own_stdout() -> IO[str]:
    # A framework that prints must not break the protocol: its stdout becomes our stderr.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return replies
