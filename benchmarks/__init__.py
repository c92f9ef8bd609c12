"""Measurements of plugrad: run them with ``python -m benchmarks``.

The package measures and never tests: a timed assertion would fail on a busy machine. What CI
holds is a count of instructions (`benchmarks.instructions`), which load does not change.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The top of the repository: what a measured process has on its module path."""

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "PLUGRAD_NUM_THREADS",
    "NPROC",  # of XLA
)


def threads(number: int) -> dict[str, str]:
    """Return the environment that gives every library in a measured process so many threads."""
    found = dict.fromkeys(THREADS, str(number))
    if number == 1:
        found["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    return found


ONE_THREAD = threads(1)


class BenchmarkError(Exception):
    """A measurement could not be made; the message says why and what to do."""
