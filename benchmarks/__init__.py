"""Measurements of plugrad: run them with ``python -m benchmarks``.

The package measures and never tests: a timed assertion would fail on a busy machine. What CI
holds is a count of instructions (`benchmarks.instructions`), which load does not change.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The top of the repository: what a measured process has on its module path."""

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
"""Environment that gives every library in a measured process one thread."""


class BenchmarkError(Exception):
    """A measurement could not be made; the message says why and what to do."""
