"""Measure plugrad on another array library, a plugin's backend, against other frameworks.

As without a command; the arrays of the subject are those of the backend named by `--on`, which has
to be installed, as by ``pip install -e examples/plugin_torch``.
"""

import argparse
from dataclasses import replace

from benchmarks import compare
from benchmarks.workloads import WORKLOADS

GOALS = {
    "chain-backward": 0.6,
    "chain-without": 0.6,
    "chain-recording": 0.6,
    "lenet": 1.1,
    "vgg": 1.1,
    "resnet18": 1.1,
}
"""The highest share of PyTorch's time that the project allows itself on PyTorch's own arrays."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    compare.add_arguments(parser)
    parser.add_argument("--on", default="torch", metavar="BACKEND", help="a backend (torch)")
    parser.set_defaults(workload=[WORKLOADS[name] for name in GOALS])


def main(options: argparse.Namespace) -> int:
    """Measure, print and write."""
    options.workload = [
        replace(w, goals={"torch": GOALS[w.name]} if w.name in GOALS else {})
        for w in options.workload
    ]
    return compare.main(options)
