"""Programs that are run by several processes at once, under each MPI that is here."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
MACHINES = Path(__file__).with_name("machines.py")

# MPICH and Open MPI cannot be in one environment. The Python of another one, in which the same
# packages are found, may be named here; .ci/run makes one.
PYTHONS = {"mpi": sys.executable, "another mpi": os.environ.get("PLUGRAD_ANOTHER_MPI", "")}

ALLOWED = {  # what Open MPI wants to be told: as root, and with more processes than cores
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OPENBLAS_NUM_THREADS": "1",
}

# To load numba takes each rank most of a second: compiled loops have a say in these programs alone.
COMPILED = {"captured", "sharded"}


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
        self.mark = f"PLUGRAD_TESTED_JOB={uuid.uuid4()}"

    def launcher(self, count: int) -> list[str]:
        return [str(starter(self.python)), "-n", str(count), self.python]

    def command(self, count: int, program: str, *arguments: object) -> list[str]:
        return [*self.launcher(count), str(PROGRAMS / f"{program}.py"), *map(str, arguments)]

    def environment(self, program: str = "") -> dict[str, str]:
        others = (str(ROOT), os.environ.get("PYTHONPATH", ""))
        own = {"PYTHONPATH": os.pathsep.join(filter(None, others))}
        if program not in COMPILED:
            own["PLUGRAD_COMPILED"] = "0"
        return {**os.environ, **ALLOWED, **dict([self.mark.split("=")]), **own}

    def start(self, count: int, program: str, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(count, program, *arguments),
            env=self.environment(program),
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
        """The exit status, what is printed, and the seconds that it took.

        Of some 700 jobs of Open MPI on two machines in which a rank fails, the launcher of one has
        not ended, with no rank left: such a job is begun anew, once.
        """
        for is_last in (False, True):
            began = time.monotonic()
            job = self.start(count, program, *arguments)
            try:
                said, _ = job.communicate(timeout=120)
                return job.returncode, said, time.monotonic() - began
            except subprocess.TimeoutExpired as error:
                left = self.left()
                for process in left:
                    with suppress(OSError):
                        os.kill(process, signal.SIGKILL)
                job.stdout.close()
                job.wait()
                said = (error.output or b"").decode(errors="replace")
                told = "\n".join(["The job hangs:", *left.values(), "It said:", said])
                begins = [" ".join(each.split()[:2]) for each in left.values()]
                if is_last or any(f"/{program}.py" in each for each in begins):
                    raise AssertionError(told) from None
                print(told)
        raise AssertionError

    def left(self) -> dict[int, str]:
        """The processes of the job that are still there: what each runs, and where it waits."""
        found = {}
        for each in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if self.mark.encode() in (each / "environ").read_bytes():
                    command = (each / "cmdline").read_text().replace("\0", " ")
                    found[int(each.name)] = f"{command}({(each / 'wchan').read_text()})"
        return found


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


@cache
def impossible() -> str:
    """Why there can be no machines in this one; empty where there can."""
    try:
        done = subprocess.run([sys.executable, MACHINES, "true"], capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or "namespaces cannot be made here"


class RanksOfMachines(Ranks):
    """Runs programs on two machines, by the file of hosts that docs/communicators.md shows."""

    names = "machine-a", "machine-b"

    def __init__(self, python, folder, counts):
        super().__init__(python)
        self.hosts, self.counts = folder / "hosts", counts

    def is_hydra(self):
        told = subprocess.run([starter(self.python), "--version"], capture_output=True, text=True)
        return "HYDRA" in told.stdout

    def launcher(self, count):
        form, option = ("{}:{}", "-f") if self.is_hydra() else ("{} slots={}", "--hostfile")
        lines = [form.format(*each) for each in zip(self.names, self.counts, strict=True)]
        self.hosts.write_text("\n".join(lines) + "\n")
        mpiexec = [str(starter(self.python)), option, str(self.hosts), "-n", str(count)]
        return [sys.executable, str(MACHINES), *mpiexec, self.python]

    def environment(self, program=""):
        ssh = str(MACHINES.with_suffix(".sh"))
        found = super().environment(program)
        found.pop("PRTE_MCA_rmaps_default_mapping_policy")  # by which all are on the first
        return {
            **found, "HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": ssh,
            "PRTE_MCA_plm_ssh_agent": ssh,
        }  # fmt: skip


@pytest.fixture(params=PYTHONS)
def machines(request, tmp_path):
    """A way to start so many ranks on each of two machines."""
    reason = missing(PYTHONS[request.param]) or impossible()
    if reason:
        pytest.skip(reason)
    return lambda *counts: RanksOfMachines(PYTHONS[request.param], tmp_path, counts)
