"""What dividing matrix products ourselves is worth: on a quiet machine, and beside busy processes.

Each row is one product of float32: on one thread of BLAS, on BLAS's own threads, and as operations
compute it. Means, and medians in brackets, in microseconds. `step` is a training step of the small
convolutional network of `examples/digits`.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from statistics import mean, median
from time import perf_counter, sleep
from typing import Any

from benchmarks import ROOT, BenchmarkError
from benchmarks.table import table

SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((128, 128), (128, 128)),
    ((100, 784), (784, 1000)),
    ((512, 512), (512, 512)),
    ((64, 64, 576), (576, 1024)),
]
WAYS = ("one thread of BLAS", "BLAS's threads", "ours")
SETTLE = 0.1
"""Seconds until threads that wait for work awake have given up."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="beside N busy processes")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="for each figure")


def main(options: argparse.Namespace) -> int:
    """Measure every row and print the table."""
    from backends.numpy_backend import blas

    if (control := blas.control()) is None:
        raise BenchmarkError("NumPy's BLAS is no OpenBLAS whose threads can be set")
    threads, rows = control.get(), []
    with ExitStack() as stack:
        for _ in range(options.busy):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(other.wait)
            stack.callback(other.kill)
        for name, run in [*map(product, SHAPES), ("step", step())]:
            row = [name]
            for way in WAYS:
                control.set(1 if way == WAYS[0] else threads)
                row.append(measure(lambda run=run, way=way: run(way == WAYS[2]), options.seconds))
            rows.append(row)
    print(table(["microseconds", *WAYS], rows))
    return 0


def product(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[str, Callable[[bool], Any]]:
    """One product, and its name."""
    import numpy as np

    from backends.numpy_backend import products

    a, b = (np.random.default_rng(0).random(shape, "float32") for shape in shapes)
    return f"{shapes[0]} @ {shapes[1]}", lambda ours: (products.matmul if ours else np.matmul)(a, b)


def step() -> Callable[[bool], Any]:
    """A training step of the network of the example."""
    import numpy as np

    from backends.numpy_backend import products
    from backends.numpy_backend.namespace import namespace
    from core import links, optimizers

    sys.path.insert(0, os.fspath(ROOT / "examples" / "digits"))
    from train_digits import Network

    model = links.Classifier(Network())
    optimizer = optimizers.Adam().setup(model)
    x = np.random.default_rng(0).random((64, 1, 8, 8), "float32")
    t = np.arange(64, dtype=np.int32) % 10

    def run(ours: bool) -> None:
        vars(namespace)["matmul"] = products.matmul if ours else np.matmul
        optimizer.update(model, x, t)

    return run


def measure(run: Callable[[], Any], seconds: float) -> str:
    """The mean and the median of runs for so long."""
    sleep(SETTLE)
    run()
    times, end = [], perf_counter() + seconds
    while perf_counter() < end:
        began = perf_counter()
        run()
        times.append(1e6 * (perf_counter() - began))
    return f"{mean(times):,.0f} ({median(times):,.0f})"
