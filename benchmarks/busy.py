"""How much longer the digits example takes beside a busy process on each core.

The example runs alone and beside them in turn, with nothing set about threads. On a fair machine
each core is shared by two, so twice the time is what can be had; what takes longer has waited for
threads that were not running.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks import ROOT, THREADS, BenchmarkError, results
from benchmarks.machine import machine
from benchmarks.overhead import positive

GOAL = 2.0
SPIN = (sys.executable, "-c", "while True: pass")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epoch", type=positive, default=5, metavar="N", help="default: 5")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="default: 3")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")


def main(options: argparse.Namespace) -> int:
    """Measure, print and write."""
    with TemporaryDirectory() as folder:
        example = ROOT / "examples" / "digits" / "train_digits.py"
        command = [sys.executable, str(example), "--epoch", str(options.epoch), "--out", folder]
        rounds = measure(command, options.rounds, os.cpu_count() or 1)
    print(report(rounds))
    if options.json:
        found = {"machine": machine(), "epochs": options.epoch, "seconds": rounds, "goal": GOAL}
        results.save(options.json, json.dumps(found, indent=1) + "\n")
    return 0


def measure(command: Sequence[str], rounds: int, cores: int) -> list[tuple[float, float]]:
    """Seconds alone and beside others, for each round."""
    return [(seconds(command, 0), seconds(command, cores)) for _ in range(rounds)]


def seconds(command: Sequence[str], beside: int) -> float:
    """How long the command takes beside so many busy processes."""
    with ExitStack() as stack:
        for _ in range(beside):
            other = stack.enter_context(subprocess.Popen(SPIN))
            stack.callback(other.kill)
        start = perf_counter()
        run = subprocess.run(
            command, env=surroundings(), capture_output=True, text=True, check=False
        )
        took = perf_counter() - start
    if run.returncode:
        raise BenchmarkError(f"the example ended with {run.returncode}:\n{run.stderr[-2000:]}")
    return took


def surroundings() -> dict[str, str]:
    """The environment, without what it says about threads."""
    own = {k: v for k, v in os.environ.items() if k not in THREADS}
    return own | {"PYTHONPATH": os.pathsep.join([str(ROOT), own.get("PYTHONPATH", "")])}


def report(rounds: list[tuple[float, float]]) -> str:
    """Return the medians, and how much longer it takes."""
    alone, beside = (median(times) for times in zip(*rounds, strict=True))
    ratio = median(b / a for a, b in rounds)
    return (
        f"alone {alone:.1f} s, beside a busy process on each core {beside:.1f} s: "
        f"{ratio:.2f} times (goal: {GOAL:g})"
    )
