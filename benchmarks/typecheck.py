"""What type checks add to small operations whose inputs have shapes and dtypes seen before.

Slices with and without checks take turns in one process, so that drift cancels out of the shares.
"""

import argparse
from collections.abc import Callable
from time import perf_counter

from benchmarks.overhead import positive
from benchmarks.rounds import Spread, spread
from benchmarks.table import table

LIMIT = 0.1
"""The share of a small operation's time that its check may take."""

CALLS = 300
"""Calls a slice."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=positive, default=30, metavar="N", help="default: 30")


def main(options: argparse.Namespace) -> int:
    """Print each operation's time and the share of its check; 1 if one exceeds the limit."""
    rows, worst = [], 0.0
    for name, call in cases().items():
        checked, share = measure(call, options.rounds)
        worst = max(worst, share.median)
        shares = [f"{100 * part:+.1f} %" for part in (share.median, share.low, share.high)]
        rows.append([name, f"{1e6 * checked.median:.2f}", *shares])
    print(table(["operation", "us", "check", "lower", "upper quartile"], rows))
    print(f"largest median {100 * worst:+.1f} %, limit {100 * LIMIT:.0f} %")
    return 0 if worst <= LIMIT else 1


def measure(call: Callable[[], object], rounds: int) -> tuple[Spread, Spread]:
    """Seconds a call with checks, and the part of them that goes without."""
    call()
    pairs = [(time(call, True), time(call, False)) for _ in range(rounds)]
    return spread([on for on, _ in pairs]), spread([1 - off / on for on, off in pairs])


def time(call: Callable[[], object], check: bool) -> float:
    """Seconds a call."""
    import core

    with core.using_config("type_check", check):
        call()
        start = perf_counter()
        for _ in range(CALLS):
            call()
        return (perf_counter() - start) / CALLS


def cases() -> dict[str, Callable[[], object]]:
    """Operations of every form on inputs so small that the arithmetic is next to nothing."""
    import numpy as np

    import core
    import core.functions as F

    x, images = core.Variable(np.ones((2, 3), "f")), core.Variable(np.ones((1, 2, 3, 3), "f"))
    W, b, three = np.ones((4, 3), "f"), np.ones(4, "f"), np.ones(3, "f")
    labels, filters = np.zeros(2, "i"), np.ones((2, 2, 2, 2), "f")
    c, gates = np.ones((2, 1), "f"), core.Variable(np.ones((2, 4), "f"))
    return {
        "x + x": lambda: x + x,
        "x * 2": lambda: x * 2,
        "relu": lambda: F.relu(x),
        "reshape": lambda: F.reshape(x, (3, 2)),
        "sum": lambda: F.sum(x, axis=1),
        "concat": lambda: F.concat((x, x)),
        "linear": lambda: F.linear(x, W, b),
        "embed_id": lambda: F.embed_id(labels, W),
        "softmax_cross_entropy": lambda: F.softmax_cross_entropy(x, labels),
        "lstm": lambda: F.lstm(c, gates),
        "batch_normalization": lambda: F.batch_normalization(x, three, three),
        "convolution_2d": lambda: F.convolution_2d(images, filters),
        "max_pooling_2d": lambda: F.max_pooling_2d(images, 2),
    }
