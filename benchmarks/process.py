"""The measuring side of the worker protocol: a worker is a process that is asked for slices."""

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks import ONE_THREAD, ROOT, BenchmarkError
from benchmarks.rounds import Slice

WORKERS = Path(__file__).with_name("workers")


class Worker:
    """One framework's process; ends when the ``with`` block does."""

    def __init__(self, name: str, python: Path):
        self.name = name
        self._process = subprocess.Popen(
            [str(python), str(WORKERS / f"{name}_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=WORKERS,
            env=environment(name),
        )
        self.versions: dict[str, str] = self._read()["versions"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def measure(self, case: str, repeat: int, collector: str) -> Slice:
        """Run `case` so many times and return the slice."""
        request = json.dumps({"case": case, "repeat": repeat, "gc": collector})
        stdin = self._process.stdin
        if stdin is None:
            raise BenchmarkError(f"the {self.name} worker has no standard input")
        stdin.write(request + "\n")
        stdin.flush()
        return Slice(**self._read())

    def _read(self) -> dict[str, Any]:
        stdout = self._process.stdout
        line = stdout.readline() if stdout else ""
        if not line:
            code = self._process.wait()
            raise BenchmarkError(f"the {self.name} worker ended with {code}; its error is above")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise BenchmarkError(f"the {self.name} worker failed:\n{reply['error']}")
        return reply


def environment(name: str) -> dict[str, str]:
    """Return a worker's environment: one thread, and the repository for plugrad alone."""
    own = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    if name == "plugrad":
        own["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return own | ONE_THREAD
