"""The measured side of the worker protocol: one JSON object a line, in and out.

A worker starts, announces ``{"ready": true, "versions": {...}}`` and then answers requests
``{"case": name, "repeat": n, "gc": "off"}`` with the slice it measured, until its input ends;
``"parallel": true`` says that several threads or processes are at work. It may also answer
questions, ``{"ask": name, "with": {...}}``, with ``{"answer": ...}``.
Only the standard library is used, so that the file runs in any peer's environment.
"""

import gc
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import IO, Any

Case = Callable[[int], None]
Questions = Mapping[str, Callable[..., Any]]

NONE: Questions = {}

REPETITIONS = 33
"""Times the chain repeats mul, add, tanh; one more mul makes the 100 operations."""

TICKS = 0.02
"""Seconds that a count in ticks, at its beginning and its end, may be wrong by."""

SETTLE = 0.05
"""Seconds after a slice of several threads, until those that wait for work awake have given up."""

OPERATIONS = 3 * REPETITIONS + 1


def calibrate() -> float:
    """Time a fixed piece of pure Python: it takes longer only when the machine is disturbed."""
    start = perf_counter()
    total = 0
    for i in range(20_000):
        total += i & 7
    return perf_counter() - start


def processes(number: str = "self") -> Iterator[Path]:
    """The folders of a process and of all its descendants, where the system tells."""
    yield Path("/proc", number)
    for children in Path("/proc", number).glob("task/*/children"):
        for child in children.read_text().split():
            yield from processes(child)


def own() -> float:
    """Seconds of processor time of all threads of this process and its descendants."""
    found = [f for folder in processes() for f in folder.glob("task/*/schedstat")]
    return 1e-9 * sum(int(f.read_text().split()[0]) for f in found)


def others() -> float:
    """Seconds of processor time that all others have taken, a host of this machine included."""
    try:
        user, nice, system, _, _, *more = Path("/proc/stat").read_text().split("\n")[0].split()[1:9]
    except OSError:  # not on Linux: the calibration loop alone has to notice
        return 0.0
    return sum(map(int, (user, nice, system, *more))) / os.sysconf("SC_CLK_TCK") - own()


def measure(case: Case, repeat: int, collector: str, parallel: bool = False) -> dict[str, float]:
    """Run one slice. Whatever earlier cases left behind is collected before the clock starts.

    What waited for a processor shows where processor time stays behind the clock's, in one thread.
    Of several, which also wait for one another, it is what others took, for each processor; the
    system counts that in ticks.
    """
    gc.collect()
    if collector == "off":
        gc.disable()
    before = calibrate()
    taken = others() if parallel else 0
    wall, cpu = perf_counter(), process_time()
    case(repeat)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    waited = wall - cpu
    if parallel:
        waited = max(0, others() - taken - TICKS) / (os.cpu_count() or 1)
        sleep(SETTLE)
    after = calibrate()
    gc.enable()
    times = {"wall": wall, "cpu": cpu, "waited": waited, "before": before, "after": after}
    return {"repeat": repeat, **times}


def answer(line: str, cases: dict[str, Case], questions: Questions = NONE) -> dict[str, Any]:
    """Turn a request into its reply; an exception becomes a reply as well."""
    try:
        request = json.loads(line)
        if "ask" in request:
            return {"answer": questions[request["ask"]](**request["with"])}
        parallel = request.get("parallel", False)
        return measure(cases[request["case"]], request["repeat"], request["gc"], parallel)
    except Exception:
        return {"error": traceback.format_exc()}


def serve(cases: dict[str, Case], versions: dict[str, str], questions: Questions = NONE) -> None:
    """Announce the worker, then answer until standard input ends."""
    replies = _own_stdout()
    versions = {"python": platform.python_version(), **versions}
    print(json.dumps({"ready": True, "versions": versions}), file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(line, cases, questions)), file=replies, flush=True)


def refuse(why: str) -> None:
    """Announce instead that this worker cannot take part."""
    print(json.dumps({"error": why}), flush=True)


def _own_stdout() -> IO[str]:
    # A framework that prints must not break the protocol: its stdout becomes our stderr.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return replies
