"""What two threads do in the time of one, each with small operations of its own.

Under the global interpreter lock threads take turns, and the figure says what the turns cost; on a
free-threaded Python it says how far the operations of one thread slow down those of another. Two
rows say what can be had: counting in Python, and NumPy's arithmetic without a framework. Slices of
one thread and of both take turns, case by case. Of each kind the fastest fiftieth is compared,
slices that had the processors to themselves; if there were none, counting gains nothing either.
"""

import argparse
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from benchmarks.overhead import positive
from benchmarks.table import table

OPERATIONS = 30
"""Operations a call."""

SLICE = 1e-3
"""Seconds that a slice of one thread takes, about: short, so that many are not put aside."""

START = 2e-4
"""Seconds until a slice begins, which its threads await awake."""

Call = Callable[[], object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=positive, default=1000, metavar="N", help="default: 1000")


def main(options: argparse.Namespace) -> int:
    """Print the time of an operation in one thread, and what two threads do in that of one."""
    lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"Python {sys.version.split()[0]}, {'with' if lock else 'without'} the global lock")
    rows = []
    for name, (alone, both) in measure(CASES, options.rounds).items():
        one, two = fastest(alone), fastest(both)
        rows.append([name, f"{1e6 * one / OPERATIONS:.2f}", f"{2 * one / two:.2f}"])
    print(table(["case", "us", "two threads"], rows))
    return 0


def fastest(slices: Sequence[float]) -> float:
    """The time that one slice in fifty is faster than."""
    return sorted(slices)[len(slices) // 50]


Slices = tuple[list[float], list[float]]


def measure(cases: Mapping[str, Callable[[], Call]], rounds: int) -> dict[str, Slices]:
    """Seconds a call in the slices of one thread, and in those of two at once."""
    calls = {name: calls_of(case()) for name, case in cases.items()}
    start, begin = threading.Barrier(2), [0.0]
    taken: list[dict[str, Slices]] = [{name: ([], []) for name in cases} for _ in range(2)]

    def run(i: int) -> None:
        own = {name: case() for name, case in cases.items()}  # each thread works on its own
        for _ in range(rounds):
            for name, call in own.items():
                for both in (0, 1):
                    start.wait()
                    if i == 0:
                        begin[0] = perf_counter() + START
                    start.wait()
                    if both or i == 0:
                        time = slice_of(call, calls[name], begin[0]) / calls[name]
                        taken[i][name][both].append(time)

    threads = [threading.Thread(target=run, args=(i,)) for i in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        name: (taken[0][name][0], [*map(max, taken[0][name][1], taken[1][name][1])])
        for name in cases
    }


def calls_of(call: Call) -> int:
    """How many calls make a slice."""
    call()
    shortest = min(slice_of(call, 5, perf_counter()) for _ in range(20))
    return max(1, round(5 * SLICE / shortest))


def slice_of(call: Call, calls: int, begin: float) -> float:
    """Seconds from `begin` until the calls are made."""
    while perf_counter() < begin:
        pass
    for _ in range(calls):
        call()
    return perf_counter() - begin


def counting() -> Call:
    """Nothing but Python's own work."""

    def call() -> None:
        for _ in range(OPERATIONS):
            i = 0
            while i < 10:
                i += 1

    return call


def arithmetic() -> Call:
    """A chain of multiplications and additions of arrays of 4 elements."""
    import numpy as np

    return chain(*[np.full(4, value, "f") for value in (0.1, 1.1, 0.2)])


def forward(size: int = 4) -> Call:
    """The same chain on Variables, whose graph is dropped."""
    import numpy as np

    import core

    return chain(*[core.Variable(np.full(size, value, "f")) for value in (0.1, 1.1, 0.2)])


def backward(size: int = 4) -> Call:
    """The same with the gradients."""
    import numpy as np

    make, g = forward(size), np.ones(size, "f")

    def call() -> None:
        y = make()
        y.grad = g  # type: ignore[attr-defined]
        y.backward()  # type: ignore[attr-defined]

    return call


def chain(x: object, w: object, b: object) -> Call:
    def call() -> object:
        h = x
        for _ in range(OPERATIONS // 2):
            h = h * w + b  # type: ignore[operator]
        return h

    return call


CASES = {
    "counting": counting,
    "NumPy": arithmetic,
    "forward": forward,
    "forward + backward": backward,
    "the same, 16,384 elements": lambda: backward(16384),
}
