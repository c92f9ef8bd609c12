"""How the cost of an operation grows with the graph, and that of an update with the parameters.

Graphs of 10 to 100,000 operations on 4 numbers, forward and backward, one after another (deep) and
side by side (wide); updates of 1 to 10,000 parameters of 4 numbers. Where cost is linear, the time
of each stays the same. The garbage collector is on, as it is for users; the fastest of several runs
counts, in processor time of one thread.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks import results
from benchmarks.machine import machine
from benchmarks.table import table

SIZES = {
    "deep": (10, 100, 1_000, 10_000, 100_000),
    "wide": (10, 100, 1_000, 10_000, 100_000),
    "parameters": (1, 10, 100, 1_000, 10_000),
}
SECONDS = 0.5
"""How long each is repeated at least."""

LARGE = 1_000
"""From here on costs are compared: below, what is paid once for all counts for more."""

Run = Callable[[], object]
Costs = dict[str, dict[int, float]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it, also as FILE-dark")


def main(options: argparse.Namespace) -> int:
    """Measure, print and write."""
    costs = measure(SIZES)
    print(report(costs))
    found = {"machine": machine(), "microseconds": costs, "growth": growth(costs)}
    if options.json:
        results.save(options.json, json.dumps(found, indent=1) + "\n")
    if options.plot:
        from benchmarks import picture

        picture.draw_growth(found, options.plot)
    return 0


def measure(sizes: dict[str, Sequence[int]], seconds: float = SECONDS) -> Costs:
    """Microseconds of an operation, or of a parameter."""
    return {
        name: {n: 1e6 * fastest(CASES[name](n), seconds) / n for n in numbers}
        for name, numbers in sizes.items()
    }


def fastest(run: Run, seconds: float) -> float:
    """Seconds of processor time of the fastest of several runs; the first one warms up."""
    run()
    found: list[float] = []
    while len(found) < 3 or sum(found) < seconds:
        start = process_time()
        run()
        found.append(process_time() - start)
    return min(found)


def growth(costs: Costs) -> dict[str, float]:
    """How much dearer one becomes from `LARGE` to the most."""
    return {
        name: found[max(found)] / found[min(LARGE, max(found))] for name, found in costs.items()
    }


def report(costs: Costs) -> str:
    """Return the table: a line for each number."""
    numbers = sorted({n for found in costs.values() for n in found})
    lines = [
        [f"{n:,}", *(f"{found[n]:.2f}" if n in found else "" for found in costs.values())]
        for n in numbers
    ]
    lines.append([f"from {LARGE:,} on", *(f"x {f:.2f}" for f in growth(costs).values())])
    return table(["us of each of", *costs], lines)


def variables() -> tuple[Any, ...]:
    import numpy as np

    import core

    return tuple(core.Variable(np.full(4, value, "f")) for value in (0.1, 1.0, 0.01))


def deep(n: int) -> Run:
    """A product and a sum in turn."""
    x, w, b = variables()

    def run() -> None:
        h = x
        for _ in range(n // 2):
            h = h * w + b
        finish(h)

    return run


def wide(n: int) -> Run:
    """Products of one variable, and a tree of sums over them."""
    x, w, _ = variables()

    def run() -> None:
        level = [x * w for _ in range(n // 2)]
        while len(level) > 1:
            odd = level[len(level) // 2 * 2 :]
            level = [a + b for a, b in zip(level[::2], level[1::2], strict=False)] + odd
        finish(level[0])

    return run


def finish(y: Any) -> None:
    """Walk back from y."""
    y.grad = y.array
    y.backward()


def parameters(n: int) -> Run:
    """A step of gradient descent."""
    import numpy as np

    import core
    from core import optimizers

    model = core.Chain()
    with model.init_scope():
        for i in range(n):
            setattr(model, f"p{i}", core.Parameter(np.ones(4, "f")))
    optimizer = optimizers.SGD(lr=1e-3).setup(model)
    for p in model.params():
        p.grad = np.ones(4, "f")
    return optimizer.update


CASES: dict[str, Callable[[int], Run]] = {"deep": deep, "wide": wide, "parameters": parameters}
