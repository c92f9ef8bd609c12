"""Threads of BLAS: as many as the environment says, and safe to fork after."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.strip()


def test_the_number_of_threads_is_also_that_of_numpys_own_products() -> None:
    code = """
        import core
        from backends.numpy_backend import blas
        core.backend.get("numpy")
        print(core.config.num_threads, blas.control() is None or blas.control().get())
    """
    assert run(code, PLUGRAD_NUM_THREADS="1", OPENBLAS_NUM_THREADS="2") in ("1 1", "1 True")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_after_blas_has_started_can_multiply() -> None:
    code = """
        import os, sys
        import backends.numpy_backend.backend
        import numpy as np
        a = np.ones((600, 600), np.float32)
        a @ a
        child = os.fork()
        if child == 0:
            os._exit(0 if (a @ a)[0, 0] == 600 else 1)
        print(os.waitpid(child, 0)[1])
    """
    assert run(code) == "0"
