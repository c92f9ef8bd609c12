"""What ``import core`` adds to the start of a bare interpreter."""

import argparse
import os
import resource
import subprocess
import sys
from statistics import median
from time import perf_counter

from benchmarks import ROOT, BenchmarkError
from benchmarks.overhead import positive
from benchmarks.rounds import WAITED, spread

LIMIT = 0.060
"""Seconds that the import may take."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=positive, default=20, metavar="N", help="default: 20")


def main(options: argparse.Namespace) -> int:
    """Start interpreters with and without the import in turn; 1 if the limit is exceeded."""
    start("import core")  # writes the bytecode
    pairs = [(start("pass"), start("import core")) for _ in range(options.rounds)]
    kept = undisturbed(pairs)
    if not kept:
        print("no undisturbed round: run again with a calmer machine or more --rounds")
        return 1
    cost = spread([with_core - bare for bare, with_core in kept])
    print(
        f"bare interpreter {1e3 * median(bare for bare, _ in kept):.1f} ms, import core adds "
        f"{1e3 * cost.median:.1f} ms ({1e3 * cost.low:.1f}-{1e3 * cost.high:.1f}), limit "
        f"{1e3 * LIMIT:.0f} ms; {len(kept)} of {options.rounds} rounds undisturbed"
    )
    return 0 if cost.median <= LIMIT else 1


Start = tuple[float, float]
"""Wall and CPU seconds of one interpreter from start to end."""


def undisturbed(pairs: list[tuple[Start, Start]]) -> list[tuple[float, float]]:
    """Keep the wall times of the rounds in which neither process waited for a processor.

    A process also waits for its files, a little each time: what counts is the wait beyond the
    median one.
    """
    usual = median(wall / cpu for pair in pairs for wall, cpu in pair)
    return [
        (bare[0], core[0])
        for bare, core in pairs
        if all(wall / cpu <= WAITED * usual for wall, cpu in (bare, core))
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
