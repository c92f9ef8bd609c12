"""Measure captured steps against other frameworks, and against plugrad's own eager.

As without a command; the subject is `core.capture` of each workload's step, with `--fuse` in
compiled loops.
"""

import argparse
from dataclasses import replace

from benchmarks import compare
from benchmarks.workloads import WORKLOADS

GOALS = {
    "chain-captured": 0.10,
    "mlp-sgd": 0.30,
    "mlp-adam": 0.5,
    "lstm-steps": 0.3,
    "wgan-gp": 0.5,
    "transformer": 0.7,
    "mlp-inference": 0.3,
    "lenet-inference": 0.3,
    "memory-mlp": 0.8,
    "memory-lenet": 0.8,
}
"""The highest share of PyTorch's time, or peak memory, that the project allows itself."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    compare.add_arguments(parser)
    parser.add_argument(
        "--fuse", action="store_true", help="measure core.capture(fuse=True): compiled loops"
    )
    parser.set_defaults(workload=[WORKLOADS[name] for name in GOALS])


def main(options: argparse.Namespace) -> int:
    """Measure, print and write."""
    options.captured = "fused" if options.fuse else "captured"
    options.workload = [
        replace(w, goals={"torch": GOALS[w.name]} if w.name in GOALS else {})
        for w in options.workload
    ]
    return compare.main(options)
