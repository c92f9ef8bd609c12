"""Threads of BLAS: as many as the environment says, and safe to fork after."""

from __future__ import annotations

import dis
import os
import subprocess
import sys
import textwrap
import threading
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from backends.numpy_backend import blas, products
from backends.numpy_backend.blas import Limits

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


class Interrupted:
    """A number of threads, at whose use of a certain number a signal's handler takes one thread."""

    def __init__(self, at: int) -> None:
        self.number, self.uses_left = 4, at
        self.limits = Limits(SimpleNamespace(cell=self))  # type: ignore[arg-type]

    def interrupt(self) -> None:
        self.uses_left -= 1
        if self.uses_left == 0:
            limit = self.limits.enter(1)
            assert self.limits.without == 4
            self.limits.leave(limit)

    @property
    def value(self) -> int:
        number = self.number
        self.interrupt()
        return number

    @value.setter
    def value(self, number: int) -> None:
        self.interrupt()
        self.number = number


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_forked_in_a_block_may_leave_it() -> None:
    code = """
        import os
        import core
        with core.using_threads(1):
            child = os.fork()
        if not child:
            os._exit(0)
        print(os.waitpid(child, 0)[1])
    """
    run = [sys.executable, "-c", textwrap.dedent(code)]
    assert subprocess.run(run, capture_output=True, text=True, timeout=60).stdout == "0\n"


@pytest.mark.parametrize("at", range(1, 12))
def test_limits_hold_when_a_handler_computes_in_the_middle(at: int) -> None:
    cell, found = Interrupted(at), []

    def use() -> None:
        for _ in range(2):
            limit = cell.limits.enter(2)
            found.append(cell.limits.without)
            found.append(cell.number)
            cell.limits.leave(limit)
            found.append(cell.number)

    thread = threading.Thread(target=use, daemon=True)  # which would wait for itself for ever
    thread.start()
    thread.join(2)
    assert found == [4, 2, 4] * 2


CHECKS = ("RESUME", "CALL", "JUMP_BACKWARD")  # after which Python asks whether there are signals


@cache
def asked(code: CodeType) -> set[int]:
    """The instructions before which a signal's handler may run."""
    found = list(dis.get_instructions(code))
    return {b.offset for a, b in pairwise(found) if a.opname.startswith(CHECKS)}


def test_no_limit_outlives_a_product_that_is_interrupted_anywhere() -> None:
    """As by Ctrl-C, wherever Python looks for signals in what opens and closes limits."""
    control = blas.control()
    if control is None:
        pytest.skip("NumPy has another BLAS")
    a = np.ones((160, 160), "F")  # which BLAS computes, with compiled loops too
    files, before, at = {blas.__file__, products.__file__}, control.get(), 0
    own = sys.gettrace()

    def raise_there(frame: Any, event: str, _: Any) -> Any:
        nonlocal left
        code = frame.f_code
        if code.co_filename not in files or code.co_name == "__del__":  # where nothing is raised
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_lasti in asked(code):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return raise_there

    control.set(2)
    try:
        products.matmul(a, a)  # everything is made that is made once
        while True:
            at += 1
            left = at
            try:
                sys.settrace(raise_there)
                products.matmul(a, a)
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(own)
            assert control.get() == 2, f"at check {at}"
            if left > 0:
                break
    finally:
        control.set(before)
    assert at > 20
