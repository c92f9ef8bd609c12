"""Measure plugrad on a device, eager and captured, against PyTorch there.

Each framework computes in a process of its own, which waits for the device at both ends of a slice,
and says what its pool of the device's memory has held at most.
"""

import argparse
from dataclasses import replace

from benchmarks import BenchmarkError, compare
from benchmarks.contestants import chosen
from benchmarks.rows import ROWS
from benchmarks.workloads import WORKLOADS


def main(options: argparse.Namespace) -> int:
    """Refuse what is not there; measure, print and write."""
    if options.clock == "cpu":
        raise BenchmarkError("--clock cpu measures the host alone: leave it out beside --device")
    options.workload = [ROWS.get(w.name, replace(w, goals={})) for w in options.workload]
    options.workload = options.workload or list(ROWS.values())
    ready(options.device, options.against)
    return compare.main(options)


def ready(device: str, against: list[str]) -> None:
    """Say what a framework lacks for a device, before any is measured."""
    first = {c.framework: c for c in chosen(against, device=device)}
    for contestant in first.values():
        with contestant.start(WORKLOADS["chain-captured"], 1) as worker:
            worker.versions  # noqa: B018 - reads that it is ready, or why not
