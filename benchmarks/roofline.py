"""What this machine can do at most: products of matrices, and copies of memory.

The product is NumPy's or plugrad's, whichever is faster: a BLAS takes a processor that it does not
know for an older one. The copy is of arrays that no cache holds, divided among the threads. Both
count the best of several runs, since what disturbs a run can only slow it down.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from benchmarks import ROOT, threads

SIDE = 2048
COPIED = 1 << 24
"""Elements of the matrices' sides, and of the arrays that are copied."""

RUNS = 7


def roofline(number: int) -> dict[str, float]:
    """FLOP and bytes a second, measured in a process with so many threads."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.roofline", str(number)],
        env={**os.environ, **threads(number)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(run.stdout)
    return found


def measure(number: int, side: int = SIDE, copied: int = COPIED) -> dict[str, float]:
    """The same in this process."""
    import numpy as np

    from backends.numpy_backend.products import matmul

    a, b = np.ones((side, side), "f"), np.ones((side, side), "f")
    c = np.empty_like(a)
    source, target = np.ones(copied, "f"), np.zeros(copied, "f")
    parts = [slice(i * copied // number, (i + 1) * copied // number) for i in range(number)]
    with ThreadPoolExecutor(number) as pool:

        def copy() -> None:
            list(pool.map(lambda s: np.copyto(target[s], source[s]), parts))

        multiplied = min(best(lambda: np.matmul(a, b, out=c)), best(lambda: matmul(a, b)))
        return {
            "flop": 2 * side**3 / multiplied,
            "bytes": 2 * source.nbytes / best(copy),
        }


def best(call: object) -> float:
    """Seconds of the fastest call."""
    found = []
    for _ in range(RUNS):
        start = perf_counter()
        call()  # type: ignore[operator]
        found.append(perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
