"""Functions one by one beside PyTorch's: forward, and forward with backward.

Both compute in this process, one after the other in each round; of the processor time of one thread
the least of all rounds counts, so that a busy machine does not matter, of several threads the least
time. Before, results and gradients are compared. A ratio below 1 says that plugrad's takes less.
"""

import argparse
from collections.abc import Callable
from fnmatch import fnmatch
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np

from benchmarks import BenchmarkError, few_cases
from benchmarks.function_cases import CASES, Case
from benchmarks.table import table

Clock = Callable[[], float]
PAUSE = 0.02  # seconds: threads of the other one wait awake for some milliseconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("functions", nargs="*", metavar="function", help="names, or patterns")
    parser.add_argument("--seconds", type=float, default=0.5, metavar="S", help="for each figure")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of each, by the clock")
    parser.add_argument("--few", action="store_true", help="on a few elements, in microseconds")


def main(options: argparse.Namespace) -> int:
    """Measure, and print a line for each function."""
    try:
        import torch
    except ImportError:
        raise BenchmarkError("PyTorch is missing: pip install torch") from None
    import core

    cases, times = (few_cases.CASES, 20) if options.few else (CASES, 1)
    chosen = {
        name: case
        for name, case in cases.items()
        if not options.functions or any([fnmatch(name, each) for each in options.functions])
    }
    if not chosen:
        raise BenchmarkError(f"no function is called so; there are {', '.join(cases)}")
    torch.set_num_threads(options.threads)
    clock = process_time if options.threads == 1 else perf_counter
    rows = []
    with core.using_threads(options.threads):
        for name, case in chosen.items():
            rows.append([name, *measured(name, case, options.seconds, times, clock)])
    print(table(["", "plugrad", "PyTorch", "ratio", "forward alone"], rows))
    unit = "Microseconds" if options.few else "Milliseconds"
    threads = "one thread" if options.threads == 1 else f"{options.threads} threads"
    print(f"\n{unit} of forward and backward, float32, {threads}; ratios to PyTorch.")
    return 0


def measured(
    name: str, case: Case, seconds: float, times: int = 1, clock: Clock = process_time
) -> list[str]:
    """Milliseconds of both, their ratio, and that of the forward alone.

    With `times` so many calls are measured together, and the unit is microseconds.
    """
    (ours, forward), (theirs, their_forward) = plugrad(case), torchs(case)
    refuse_others(name, ours(), theirs())
    a, b = least([ours, theirs], seconds, times, clock)
    c, d = least([forward, their_forward], seconds / 2, times, clock)
    unit = 1e3 if times == 1 else 1e6 / times
    return [f"{unit * a:.2f}", f"{unit * b:.2f}", f"{a / b:.2f}", f"{c / d:.2f}"]


def refuse_others(name: str, ours: list[Any], theirs: list[Any]) -> None:
    """Raise BenchmarkError unless results and gradients are PyTorch's."""
    for i, (found, expected) in enumerate(zip(ours, theirs, strict=True)):
        worst = np.abs(found - expected).max(initial=0)
        if not worst <= 1e-3 * max(1, np.abs(expected).max(initial=0)):
            what = f"gradient {i - 1}" if i else "result"
            raise BenchmarkError(f"{name}: the {what} differs from PyTorch's by {worst:.2g}")


def plugrad(case: Case) -> tuple[Callable[[], list[Any]], Callable[[], Any]]:
    """What gives the result and all gradients, and what gives the result alone."""
    import core
    import core.functions as F

    inputs = [core.Variable(a) if a.dtype == "f" else a for a in case.arrays()]
    real = [x for x in inputs if isinstance(x, core.Variable)]
    ones = np.ones(case.ours(F, *inputs).shape, "f")

    def both() -> list[Any]:
        for x in real:
            x.cleargrad()
        y = case.ours(F, *inputs)
        y.grad = ones
        y.backward()
        return [y.array, *[x.grad for x in real]]

    def forward() -> None:
        with core.no_backprop_mode():
            case.ours(F, *inputs)

    return both, forward


def torchs(case: Case) -> tuple[Callable[[], list[Any]], Callable[[], Any]]:
    """The same of PyTorch."""
    import torch

    given = [torch.tensor(a) for a in case.arrays()]
    inputs = [x.requires_grad_() if x.is_floating_point() else x.long() for x in given]
    real = [x for x in inputs if x.is_floating_point()]
    ones = torch.ones(case.theirs(torch, *inputs).shape)

    def both() -> list[Any]:
        for x in real:
            x.grad = None
        y = case.theirs(torch, *inputs)
        y.backward(ones)
        return [y.detach().numpy(), *[x.grad.numpy() for x in real]]

    def forward() -> None:
        with torch.no_grad():
            case.theirs(torch, *inputs)

    return both, forward


def least(
    runs: list[Callable[[], Any]], seconds: float, calls: int = 1, clock: Clock = process_time
) -> list[float]:
    """The least time of so many calls of each, of rounds that take so many seconds for each.

    There are three rounds at least.
    """
    times: list[list[float]] = [[] for _ in runs]
    ends = perf_counter() + seconds * len(runs)
    while perf_counter() < ends or len(times[0]) < 3:
        for run, taken in zip(runs, times, strict=True):
            if clock is perf_counter:
                sleep(PAUSE)
                run()
            for _ in range(1 if clock is process_time else 10):
                began = clock()
                for _ in range(calls):
                    run()
                taken.append(clock() - began)
    return [min(taken) for taken in times]
