"""What ``import core`` adds to a bare interpreter, beside what ``import numpy`` adds."""

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from statistics import median
from time import perf_counter

from benchmarks import ROOT, BenchmarkError
from benchmarks.overhead import positive
from benchmarks.rounds import WAITED, spread

LIMIT = 0.5
"""The share of NumPy's import that ours may take."""

PROGRAMS = ("pass", "import core", "import numpy")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=positive, default=20, metavar="N", help="default: 20")


def main(options: argparse.Namespace) -> int:
    """Start interpreters with each program in turn; 1 if the limit is exceeded."""
    start("import core")  # writes the bytecode
    rounds = [tuple(map(start, PROGRAMS)) for _ in range(options.rounds)]
    kept = undisturbed(rounds)
    if not kept:
        print("no undisturbed round: run again with a calmer machine or more --rounds")
        return 1
    ours = spread([core - bare for bare, core, _ in kept])
    share = spread([(core - bare) / (numpy - bare) for bare, core, numpy in kept])
    print(
        f"bare interpreter {1e3 * median(bare for bare, *_ in kept):.1f} ms, import core adds "
        f"{1e3 * ours.median:.1f} ms ({1e3 * ours.low:.1f}-{1e3 * ours.high:.1f}): "
        f"{share.median:.2f} ({share.low:.2f}-{share.high:.2f}) of import numpy, limit {LIMIT}; "
        f"{len(kept)} of {options.rounds} rounds undisturbed"
    )
    return 0 if share.median <= LIMIT else 1


Start = tuple[float, float]
"""Wall and CPU seconds of one interpreter from start to end."""


def undisturbed(rounds: Sequence[tuple[Start, ...]]) -> list[tuple[float, ...]]:
    """Keep the wall times of the rounds in which no process waited for a processor.

    A process also waits for its files, a little each time: what counts is the wait beyond the
    median one.
    """
    usual = median(wall / cpu for starts in rounds for wall, cpu in starts)
    return [
        tuple(wall for wall, _ in starts)
        for starts in rounds
        if all(wall / cpu <= WAITED * usual for wall, cpu in starts)
    ]


def start(code: str) -> Start:
    """Time one interpreter."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    wall, cpu = perf_counter(), _children()
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    wall, cpu = perf_counter() - wall, _children() - cpu
    if result.returncode:
        raise BenchmarkError(f"python -c {code!r} failed:\n{result.stderr[-2000:]}")
    return wall, cpu


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
