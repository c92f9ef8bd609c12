"""Freed memory is kept for the next results, up to a limit, and given back on request."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from backends.numpy_backend import allocation

ROOT = Path(__file__).resolve().parents[2]

needs_glibc = pytest.mark.skipif(allocation._glibc() is None, reason="another C library")


def run(code: str, **environment: str) -> list[float]:
    """The numbers that a fresh interpreter prints."""
    ours = (allocation.VARIABLE, *allocation.CHOSEN_BY_USER, "GLIBC_TUNABLES")
    bare = {key: value for key, value in os.environ.items() if key not in ours}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**bare, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [float(word) for word in done.stdout.split()]


FAULTS = """
    import resource
    import numpy as np
    import core

    numpy = core.backend.get("numpy")

    def step():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        arrays = [np.ones(1 << 22) for _ in range(4)]
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    step()
    again = step()
    numpy.release_memory()
    print(again, step())
"""


@needs_glibc
def test_the_second_step_finds_its_pages_and_release_gives_them_back() -> None:
    again, released = run(FAULTS)
    assert released > 10 * again


@needs_glibc
@pytest.mark.parametrize(
    "switch",
    [
        {allocation.VARIABLE: "0"},
        {allocation.VARIABLE: "8"},
        {"MALLOC_TRIM_THRESHOLD_": "65536"},
        {"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=65536"},
    ],
    ids=["switched off", "a limit below a step", "the user's own", "the user's own tunables"],
)
def test_what_the_user_decides_holds(switch: dict[str, str]) -> None:
    again, released = run(FAULTS, **switch)
    assert again > 0.5 * released


def test_a_limit_that_is_no_number_is_refused() -> None:
    with pytest.raises(RuntimeError, match="PLUGRAD_KEPT_MEMORY: expected a whole number of MiB"):
        run("import core; core.backend.get('numpy')", PLUGRAD_KEPT_MEMORY="1G")


@needs_glibc
def test_statistics_say_what_is_held_and_free() -> None:
    held, free, freed, released = run(
        """
        import numpy as np
        import core

        numpy = core.backend.get("numpy")
        x = np.ones(1 << 24)
        stats = numpy.memory_stats()
        del x
        print(stats["held"], stats["free"], numpy.memory_stats()["free"])
        numpy.release_memory()
        print(numpy.memory_stats()["held"])
        """
    )
    assert held - free > 1 << 27
    assert freed - free >= 1 << 27
    assert released < held - (1 << 26)
