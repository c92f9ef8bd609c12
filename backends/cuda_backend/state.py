"""What a report says of the libraries that compute on a GPU."""

from __future__ import annotations

from typing import Any


def of(backend: Any) -> dict[str, Any]:
    """The versions in use, or what is missing; what cuDNN has declined so far."""
    from backends.cuda_backend.cudnn.presence import version

    without = backend.without_cudnn
    said = {"cuDNN": version() if without is None else f"{without}; {_LEFT_BY_CUDNN}"}
    without = backend.without_epilogues
    said["nvmath-python"] = "used" if without is None else f"{without}; {_LEFT_BY_NVMATH}"
    declined = {} if backend.cudnn is None else backend.cudnn.declined
    said |= {f"cuDNN declined {name}": reason for name, reason in declined.items()}
    declined = {} if backend.epilogues is None else backend.epilogues.declined
    said |= {f"cuBLASLt declined {name}": reason for name, reason in declined.items()}
    return said


_LEFT_BY_CUDNN = "convolutions, batch normalization and attention are computed by CuPy"
_LEFT_BY_NVMATH = "a bias is added after its product"
