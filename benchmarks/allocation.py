"""What keeping freed memory is worth: steps of workloads with what the C library does, and without.

Each row is processes of one thread, in turn with the others; its figures are medians of its rounds.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import process_time

from benchmarks import ONE_THREAD, ROOT, BenchmarkError
from benchmarks.compare import workload
from benchmarks.overhead import positive
from benchmarks.table import table
from benchmarks.work import Work
from benchmarks.workloads import WORKLOADS, Workload

SETTINGS = {"the C library's own": {"PLUGRAD_KEPT_MEMORY": "0"}, "kept": {}}
FIGURES = ("CPU ms a step", "of these in the system", "page faults", "MB held")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    trained = [w for w in WORKLOADS.values() if w.mode == "train"]
    parser.add_argument("workload", nargs="*", type=workload, default=trained, metavar="workload")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="default: 3")
    parser.add_argument("--steps", type=positive, default=10, metavar="N", help="default: 10")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> int:
    """Measure every workload with both settings and print the table."""
    if options.child:
        print(json.dumps(measure(options.workload[0], options.steps)))
        return 0
    rows = []
    for w in options.workload:
        found: dict[str, list[list[float]]] = {setting: [] for setting in SETTINGS}
        for _ in range(options.rounds):
            for setting in SETTINGS:
                found[setting].append(start(w, setting, options.steps))
        for setting, runs in found.items():
            columns = [f"{median(column):,.1f}" for column in zip(*runs, strict=True)]
            rows.append([f"{w.name}, {setting}", *columns])
    print(table(["workload, freed memory", *FIGURES], rows))
    return 0


def start(w: Workload, setting: str, steps: int) -> list[float]:
    """Measure one workload in a new process."""
    command = [sys.executable, "-m", "benchmarks.allocation", w.name, "--child"]
    run = subprocess.run(
        [*command, "--steps", str(steps)],
        env={**os.environ, **ONE_THREAD, **SETTINGS[setting]},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise BenchmarkError(f"{w.name}: {run.stderr.strip().splitlines()[-1]}")
    result: list[float] = json.loads(run.stdout)
    return result


def measure(w: Workload, steps: int) -> list[float]:
    """The figures of a step in this process."""
    import resource

    def now() -> tuple[float, float, int]:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return process_time(), usage.ru_stime, usage.ru_minflt

    work, times, before = Work("plugrad", "default", 1, w), [], now()
    for i in range(2 + steps):
        if i == 2:  # the first ones warm up
            before = now()
        began = process_time()
        work.run(1)
        times.append(1e3 * (process_time() - began))
    _, system, faults = (b - a for a, b in zip(before, now(), strict=True))
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    held = pages * resource.getpagesize() / 1e6
    return [median(times[2:]), 1e3 * system / steps, faults / steps, held]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(prog="benchmarks.allocation", description=__doc__)
    add_arguments(arguments)
    sys.exit(main(arguments.parse_args()))
