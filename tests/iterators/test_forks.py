"""Iterators in a fork of the process that has used them: what loads for that one is not there."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys
from core import iterators

if __name__ == "__main__":
    make = getattr(iterators, sys.argv[1])
    iterator = make(range(12), 2, shuffle=False, **{sys.argv[2]: 2})
    iterator.next()
    fork = os.fork()
    signal.alarm(50)  # where it waits for ever, it ends all the same
    batches = [iterator.next() for _ in range(3)]
    iterator.finalize()
    status = os.waitpid(fork, 0)[1] if fork else 0
    print(batches, status, flush=True)
    if not fork:
        os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no forks")
@pytest.mark.parametrize(
    ("name", "number"),
    [("MultithreadIterator", "n_threads"), ("MultiprocessIterator", "n_processes")],
)
def test_a_fork_goes_on_by_itself(tmp_path, name, number):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", path, name, number],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.splitlines() == ["[[2, 3], [4, 5], [6, 7]] 0"] * 2, done.stderr
