"""Whether cuDNN can be used here, and if not, which of its two parts is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

INSTALL = "pip install 'plugrad[cudnn]' for CUDA 13, or 'plugrad[cudnn12]' for CUDA 12"


def missing() -> str | None:
    """What keeps cuDNN from being used here, with the cure; None where nothing does."""
    if find_spec("cudnn") is None:
        return f"cuDNN's frontend is not installed: {INSTALL}"
    try:
        import_module("cudnn").backend_version()
    except Exception as error:  # the frontend's own, of a library that it does not find
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        return f"cuDNN cannot be loaded ({said}); reinstall it: {INSTALL}"
    return None


def version() -> str:
    """The versions of cuDNN and of its frontend, where nothing is missing."""
    found = import_module("cudnn")
    return f"{found.backend_version_string()} by its frontend {found.__version__}"
