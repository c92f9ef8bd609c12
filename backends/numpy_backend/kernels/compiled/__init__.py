"""Kernels that numba compiles: a loop, and beside it the function that offers it for an operation.

Each is compared with the formula by tests/backends/test_compiled_kernels.py. Those that take the
formula's operations in its order give its bits; where sums are taken in another order, or
exponentials by another polynomial, results differ within the tolerance of the dtype.
"""

from __future__ import annotations

_FUNCTIONS = "plugins.functions"

COMPUTE: dict[str, str] = {}
GRADIENT = {
    f"{_FUNCTIONS}.activation.relu:ReLU": f"{__name__}.activation:relu_gradient",
}
UPDATE: dict[str, str] = {}
