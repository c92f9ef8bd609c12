"""What the thread policy is worth: one step of BLAS and numba in turn under several settings.

OpenBLAS and OpenMP, on which numba's parallel loops run, each keep as many threads as there are
processors. After a parallel loop the OpenMP ones go on turning in place for a while, hoping for the
next one, and what they wait in is the time of the matrix product that follows. Each row below is
processes of their own; rows are run in turn, and a row's figure is the median of its rounds.

Needs numba and threadpoolctl: `pip install plugrad[fast]`.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

from benchmarks import ROOT, BenchmarkError
from benchmarks.overhead import positive
from benchmarks.table import table

POLICY = {"OMP_WAIT_POLICY": "PASSIVE"}
TIMEOUT = {"OPENBLAS_THREAD_TIMEOUT": "4"}
ROWS: dict[str, tuple[dict[str, str], str]] = {
    "nothing set": ({}, "nothing"),
    "BLAS workers give up early (before NumPy)": (TIMEOUT, "nothing"),
    "OpenMP waits passively (before NumPy)": (POLICY, "nothing"),
    "both (before NumPy)": ({**POLICY, **TIMEOUT}, "nothing"),
    "OpenMP waits passively (after NumPy): the policy": ({}, "policy"),
    "numba on its own work queue (after NumPy)": ({}, "workqueue"),
    "threadpoolctl: one BLAS thread": ({}, "one-blas"),
    "threadpoolctl: one BLAS thread inside numba's loops": ({}, "limited"),
    "numba on one thread": ({}, "one-numba"),
}
"""Environment before the start, and what the process does after it has imported NumPy."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="default: 3")
    parser.add_argument("--steps", type=positive, default=40, metavar="N", help="default: 40")
    parser.add_argument("--row", help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> int:
    """Measure every row in processes of its own and print the table."""
    if options.row is not None:
        print(json.dumps(measure(ROWS[options.row][1], options.steps)))
        return 0
    found: dict[str, list[dict[str, float]]] = {row: [] for row in ROWS}
    for _ in range(options.rounds):
        for row in ROWS:
            found[row].append(start(row, options.steps))
    rows = [[row, *summary(found[row])] for row in ROWS]
    print(table(["setting", "ms a step", "slowest tenth", "processors"], rows))
    return 0


def summary(runs: list[dict[str, float]]) -> list[str]:
    """The medians of a row's rounds."""
    return [f"{median(run[key] for run in runs):.2f}" for key in ("median", "slow", "processors")]


def start(row: str, steps: int) -> dict[str, float]:
    """Measure one row in a new process; of threads, its environment says what the row says."""
    ours = ("OMP_", "GOMP_", "OPENBLAS_", "NUMBA_", "MKL_")
    bare = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.threads", "--row", row, "--steps", str(steps)],
        env={**bare, **ROWS[row][0]},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise BenchmarkError(f"{row}: {run.stderr.strip().splitlines()[-1]}")
    result: dict[str, float] = json.loads(run.stdout)
    return result


def measure(action: str, steps: int) -> dict[str, float]:
    """Milliseconds of a step in this process, and how many processors it kept busy."""
    step = prepared(action)
    for _ in range(5):
        step()
    times, cpu, wall = [], process_time(), perf_counter()
    for _ in range(steps):
        began = perf_counter()
        step()
        times.append(1e3 * (perf_counter() - began))
    busy = (process_time() - cpu) / (perf_counter() - wall)
    return {"median": median(times), "slow": sorted(times)[-1 - steps // 10], "processors": busy}


def prepared(action: str) -> Callable[[], None]:
    """Import NumPy, do what the row says, import numba, and give the step."""
    import numpy as np

    if action == "policy":
        from backends.numpy_backend import threads

        threads.prepare()
    if action == "workqueue":
        os.environ["NUMBA_THREADING_LAYER"] = "workqueue"
    import numba
    from threadpoolctl import ThreadpoolController, threadpool_limits

    @numba.njit(parallel=True)
    def leaky_relu(x, y):  # type: ignore[no-untyped-def]
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = x[i, j] if x[i, j] > 0 else np.float32(0.01) * x[i, j]

    if action == "one-blas":
        threadpool_limits(1, "blas")
    if action == "one-numba":
        numba.set_num_threads(1)
    blas = ThreadpoolController().select(user_api="blas")
    r = np.random.RandomState(0)
    x, w = r.randn(256, 800).astype("f"), r.randn(800, 500).astype("f")
    maps = r.randn(64, 11520).astype("f")
    y, out = np.empty((256, 500), "f"), np.empty_like(maps)

    def loops(z):  # type: ignore[no-untyped-def]
        leaky_relu(z, y)
        leaky_relu(maps, out)

    def limited(z):  # type: ignore[no-untyped-def]
        with blas.limit(limits=1):
            loops(z)

    between = limited if action == "limited" else loops

    def step() -> None:
        between(x @ w)
        np.matmul(y, w.T)
        between(y)
        np.matmul(x.T, y)

    return step


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    add_arguments(arguments)
    sys.exit(main(arguments.parse_args()))
