"""`plugrad info`: versions, processor, threads and settings, for a bug report."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any, TextIO

from core.registry.records import canonical
from core.registry.threads import processors
from core.show.report import Report, table

LIBRARIES = ("numpy", "cupy", "numba", "llvmlite", "pluggy", "importlib-metadata", "tqdm")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_THREAD_TIMEOUT",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMBA_THREADING_LAYER",
)


def info() -> Report:
    """Return what a bug report should say about this machine and environment."""
    data = {
        "plugrad": version("plugrad"),
        "location": str(Path(__file__).resolve().parents[2]),
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "libraries": libraries(),
        "threads": threads(),
        "environment": {
            key: value for key, value in sorted(os.environ.items()) if key.startswith("PLUGRAD_")
        },
    }
    rows = [[f"{section}", shown] for section, shown in _flat(data)]
    return Report(data, table(["what", "value"], rows))


def print_runtime_info(out: TextIO | None = None) -> None:
    """Write what `plugrad info` says to the file `out`, by default to standard output."""
    print(info().text, file=out)


def version(distribution: str) -> str | None:
    """The installed version of a distribution, or None."""
    import importlib_metadata

    try:
        return importlib_metadata.version(distribution)
    except importlib_metadata.PackageNotFoundError:
        return None


def libraries() -> dict[str, str | None]:
    """The versions of the libraries that matter, found without importing any."""
    found: dict[str, str | None] = {name: version(name) for name in LIBRARIES}
    if found["cupy"] is None:
        found["cupy"] = _cupy_wheel()
    return found


def _cupy_wheel() -> str | None:
    # CuPy's wheels are distributions named after the CUDA they were built for.
    import importlib_metadata

    for distribution in importlib_metadata.distributions():
        name = canonical(distribution.name or "")
        if name.startswith("cupy-"):
            return f"{distribution.version} ({name})"
    return None


def threads() -> dict[str, Any]:
    """Processors, and the variables that bound the threads of BLAS and of compiled kernels."""
    set_here = {key: os.environ[key] for key in THREAD_VARIABLES if key in os.environ}
    return {"processors": os.cpu_count(), "usable": processors(), **set_here}


def _flat(data: dict[str, Any]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in data.items():
        if isinstance(value, dict):
            rows += [(name, str(inner or "not installed")) for name, inner in value.items()]
        else:
            rows.append((key, str(value or "not installed")))
    return rows
