"""Whether CUDA can be used here, and if not, which of the three things is missing."""

from __future__ import annotations

from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

INSTALL = "pip install 'plugrad[cuda]' for CUDA 13, or 'plugrad[cuda12]' for CUDA 12"


def missing() -> str | None:
    """What keeps CUDA from being used here, with the cure; None where nothing does."""
    if find_spec("cupy") is None:
        return f"CuPy is not installed: {INSTALL}."
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        return (
            f"CuPy is installed but cannot be imported ({_line(error)}); reinstall it: {INSTALL}."
        )
    return _no_device(cupy)


def _no_device(cupy: Any) -> str | None:
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy's own class, which differs between its releases
        return _explained(cupy, _line(error))
    return None if count else "CuPy sees no GPU; is CUDA_VISIBLE_DEVICES empty?"


def _explained(cupy: Any, said: str) -> str:
    if "InsufficientDriver" in said:
        return (
            f"no NVIDIA driver is loaded, or one too old for CuPy {cupy.__version__} ({said}); "
            "install or update the driver."
        )
    if "NoDevice" in said:
        return f"CuPy sees no GPU ({said}); is CUDA_VISIBLE_DEVICES empty?"
    return f"CUDA does not start ({said})."


def _line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


def versions() -> dict[str, str]:
    """The CuPy distributions that are installed; two of them do not work together."""
    return {
        name: found.version
        for found in metadata.distributions()
        if (name := found.metadata["Name"] or "").lower().startswith("cupy")
    }
