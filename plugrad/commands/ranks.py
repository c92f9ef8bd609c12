"""Whether processes of a job can talk here: which MPI there is, and a hello of two ranks."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from plugrad.commands.listing import backends

_SECONDS = 60
_HELLO = """
from core.communicators import create_communicator
comm = create_communicator("mpi", time_limit=20)
ranks = comm.allreduce_obj(1)
if comm.rank == 0:  # what two print at once may stand in one line
    print(f"{ranks} ranks on {comm.inter_size} machine")
"""
_LIBRARY = "from mpi4py import MPI; print(MPI.Get_library_version())"
_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_AWARE = ("MPICH_GPU_SUPPORT_ENABLED", "OMPI_MCA_opal_cuda_support")
_CROWDED = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def findings() -> Iterator[tuple[str, str]]:
    """Pairs of a state ('ok', 'note' or 'problem') and what was found."""
    yield from _mpi()
    yield from _nccl()


def _mpi() -> Iterator[tuple[str, str]]:
    if importlib.util.find_spec("mpi4py") is None:
        yield "note", "mpi4py is not installed: `pip install 'plugrad[mpi]'` for several processes"
        return
    found = _run([sys.executable, "-c", _LIBRARY])
    if found.returncode:
        yield "note", "mpi4py finds no MPI: install one, as with `pip install mpich`"
        return
    yield "ok", found.stdout.partition("\n")[0].partition(", package")[0].strip()
    beside = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        yield "note", "no mpiexec: a batch system has to start the processes, as `srun` does"
        return
    hello = _run([mpiexec, "-n", "2", sys.executable, "-c", _HELLO])
    if hello.returncode == 0 and "2 ranks on 1 machine" in hello.stdout:  # among what plugins print
        yield "ok", f"two ranks started by {mpiexec} can talk"
    else:
        told = [line for line in (hello.stdout + hello.stderr).splitlines() if line.strip("=- ")]
        errors = [line for line in told if "Error: " in line]
        why = (errors or told or ["no answer"])[-1].partition("Error: ")
        yield "problem", f"two ranks started by {mpiexec} cannot talk: {why[2] or why[0]}"
    aware = [f"{name}={os.environ[name]}" for name in _AWARE if os.environ.get(name)]
    if aware:
        yield "ok", f"{aware[0]}: MPI may take arrays on GPUs"
    else:
        yield "note", f"MPI takes no arrays on GPUs, for neither {' nor '.join(_AWARE)} says so"


def _nccl() -> Iterator[tuple[str, str]]:
    row = next((row for row in backends().data if row["backend"] == "cuda"), None)
    if row is None or not row["available"]:
        yield "note", "no NCCL, for there is no GPU to be used"
        return
    found = _run([sys.executable, "-c", "from cupy.cuda import nccl; print(nccl.get_version())"])
    text = f"NCCL {found.stdout.strip()}" if not found.returncode else "CuPy has found no NCCL"
    yield "note" if found.returncode else "ok", text


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **_AS_ROOT, **_CROWDED}
    try:
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer within {_SECONDS} seconds")
