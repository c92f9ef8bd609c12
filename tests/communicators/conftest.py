"""Programs that are run by several processes at once, under each MPI that is here."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"

# MPICH and Open MPI cannot be in one environment. The Python of another one, in which the same
# packages are found, may be named here; .ci/run makes one.
PYTHONS = {"mpi": sys.executable, "another mpi": os.environ.get("PLUGRAD_ANOTHER_MPI", "")}

ALLOWED = {  # what Open MPI wants to be told: as root, and with more processes than cores
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OPENBLAS_NUM_THREADS": "1",
}


def missing(python: str) -> str:
    """Why no ranks can be started by this Python; empty where they can."""
    if not python:
        return "no other MPI is named by PLUGRAD_ANOTHER_MPI"
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not installed"
    return "" if starter(python) else "there is no mpiexec"


def starter(python: str) -> str | None:
    beside = Path(python).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


class Ranks:
    """Runs programs of this folder under one MPI."""

    def __init__(self, python: str) -> None:
        self.python = python

    def launcher(self, count: int) -> list[str]:
        return [str(starter(self.python)), "-n", str(count), self.python]

    def command(self, count: int, program: str, *arguments: object) -> list[str]:
        return [*self.launcher(count), str(PROGRAMS / f"{program}.py"), *map(str, arguments)]

    def environment(self) -> dict[str, str]:
        others = (str(ROOT), os.environ.get("PYTHONPATH", ""))
        return {**os.environ, **ALLOWED, "PYTHONPATH": os.pathsep.join(filter(None, others))}

    def start(self, count: int, program: str, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(count, program, *arguments),
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, count: int, program: str, *arguments: object) -> str:
        """What the ranks print; fails where one of them does."""
        code, said, _ = self.outcome(count, program, *arguments)
        assert code == 0, said
        return said

    def outcome(self, count: int, program: str, *arguments: object) -> tuple[int, str, float]:
        """The exit status, what is printed, and the seconds that it took."""
        began = time.monotonic()
        job = self.start(count, program, *arguments)
        try:
            said, _ = job.communicate(timeout=120)
        finally:
            job.kill()
        return job.returncode, said, time.monotonic() - began


@pytest.fixture(params=PYTHONS)
def ranks(request):
    """A way to run programs on several ranks, once for each MPI."""
    reason = missing(PYTHONS[request.param])
    if reason:
        pytest.skip(reason)
    return Ranks(PYTHONS[request.param])


@pytest.fixture
def default_ranks():
    """The same with the MPI of this environment alone."""
    reason = missing(PYTHONS["mpi"])
    if reason:
        pytest.skip(reason)
    return Ranks(PYTHONS["mpi"])
