"""The measuring side of the worker protocol: a worker is a process that is asked for slices."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks import ROOT, BenchmarkError, threads
from benchmarks.rounds import Slice

WORKERS = Path(__file__).with_name("workers")


class Worker:
    """One framework's process; ends when the ``with`` block does.

    The `command` is a file of `WORKERS` and its arguments, `settings` are further variables of its
    environment.
    """

    def __init__(
        self,
        name: str,
        python: Path,
        command: Sequence[str] = (),
        number: int = 1,
        settings: Mapping[str, str] | None = None,
    ):
        self.name = name
        script, *arguments = command or [f"{name}_worker.py"]
        self._process = subprocess.Popen(
            [str(python), str(WORKERS / script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=WORKERS,
            env=environment(name, number) | (settings or {}),
        )

    @cached_property
    def versions(self) -> dict[str, str]:
        """What runs there; waits until it does."""
        found: dict[str, str] = self._read()["versions"]
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def measure(self, case: str, repeat: int, collector: str, parallel: bool = False) -> Slice:
        """Run `case` so many times and return the slice."""
        request = {"case": case, "repeat": repeat, "gc": collector, "parallel": parallel}
        return Slice(**self._send(request))

    def ask(self, question: str, **values: Any) -> Any:
        """Return the answer to a question."""
        return self._send({"ask": question, "with": values})["answer"]

    def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        self.versions  # noqa: B018 - reads that the worker is ready
        stdin = self._process.stdin
        if stdin is None:
            raise BenchmarkError(f"the {self.name} worker has no standard input")
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        return self._read()

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


def environment(name: str, number: int = 1) -> dict[str, str]:
    """Return a worker's environment: its threads, and the repository for plugrad alone."""
    own = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    if name == "plugrad":
        own["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return own | threads(number)
