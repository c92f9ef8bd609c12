"""What the digits example takes to compile its loops, where nothing of them is on disk yet.

One epoch runs in a process with an empty folder for machine code, and again with what the first has
left there. What the first takes more, in processor time of all its threads, went into compiling.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks import ROOT, BenchmarkError, results
from benchmarks.machine import machine
from benchmarks.overhead import positive

GOAL = 5.0
EXAMPLE = ROOT / "examples" / "digits" / "train_digits.py"


class Round(NamedTuple):
    """Processor seconds with nothing on disk and with everything, and what then lies there."""

    empty: float
    full: float
    loops: int
    size: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="default: 3")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")


def main(options: argparse.Namespace) -> int:
    """Measure, print and write."""
    rounds = [measure() for _ in range(options.rounds)]
    print(report(rounds))
    if options.json:
        found = {"machine": machine(), "rounds": [r._asdict() for r in rounds], "goal": GOAL}
        results.save(options.json, json.dumps(found, indent=1) + "\n")
    return 0


def measure() -> Round:
    """One round, with a folder of its own."""
    with TemporaryDirectory() as folder:
        empty, full = seconds(folder), seconds(folder)
        return Round(empty, full, *kept(Path(folder)))


def seconds(folder: str) -> float:
    """Processor seconds of one epoch with machine code in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with TemporaryDirectory() as out:
        run = subprocess.run(
            [sys.executable, str(EXAMPLE), "--epoch", "1", "--out", out],
            env=surroundings(folder),
            capture_output=True,
            text=True,
            check=False,
        )
    if run.returncode:
        raise BenchmarkError(f"the example ended with {run.returncode}:\n{run.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def surroundings(folder: str) -> dict[str, str]:
    """The environment, with the place of machine code."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": folder}


def kept(folder: Path) -> tuple[int, int]:
    """How many loops a folder has, and their bytes."""
    files = list(folder.rglob("*.nbc"))
    return len(files), sum([file.stat().st_size for file in files])


def report(rounds: list[Round]) -> str:
    """Return the medians."""
    compiling = median([r.empty - r.full for r in rounds])
    empty, full, loops, size = [median(each) for each in zip(*rounds, strict=True)]
    return (
        f"processor time with nothing compiled {empty:.1f} s, with all of it {full:.1f} s: "
        f"{compiling:.1f} s (goal: {GOAL:g}) for {loops:g} loops of {size / 1e6:.2f} MB"
    )
