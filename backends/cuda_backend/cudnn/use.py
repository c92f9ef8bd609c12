"""Whether cuDNN is wanted for an operation, and what computes where it declines."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from backends.cuda_backend.cudnn.plans import Plans
from core import config
from core.arrays.backend import BACKENDS
from core.errors import BackendUnavailable

HALVES = ("float16", "bfloat16")
FLOATS = (*HALVES, "float32", "float64")

Kernel = Callable[..., Any]


def plans_of(array: Any) -> Plans | None:
    """The plans of an array's backend; None where cuDNN is not wanted, or not there.

    Raises:
        BackendUnavailable: `config.use_cudnn` is `'always'`, and it is not there.
    """
    wanted = config.use_cudnn
    if wanted == "never":
        return None
    backend: Any = BACKENDS[type(array)]
    plans: Plans | None = backend.cudnn
    if plans is None and wanted == "always":
        raise BackendUnavailable(
            f"config.use_cudnn is 'always', but {backend.without_cudnn}. Or set it to 'auto'."
        )
    return plans


def takes_halves(kernel: Kernel) -> Kernel:
    """Say that a kernel wants 16-bit floats as they are, whose sums cuDNN takes in float32.

    What it declines of them is computed in float32 throughout, and rounded.
    """
    kernel.takes_halves = True  # type: ignore[attr-defined]
    return kernel


def or_formula(kernel: Kernel) -> Kernel:
    """A kernel of an operation, and the one from its formula for what it declines."""

    @takes_halves
    @wraps(kernel)
    def computed(f: Any, xp: Any, *arrays: Any) -> Any:
        found = kernel(f, xp, *arrays)
        if found is not NotImplemented:
            return found
        backend: Any = BACKENDS[type(arrays[0])]
        return backend.formulas.compute(f, xp, *arrays)

    return computed


def or_formula_of_gradient(kernel: Kernel) -> Kernel:
    """A kernel of gradients, and the one from the rules for what it declines."""

    @takes_halves
    @wraps(kernel)
    def computed(f: Any, g: Any, needs_grad: int) -> Any:
        found = kernel(f, g, needs_grad)
        if found is not NotImplemented:
            return found
        return f._sources[0].spec.backend.formulas.gradient(f, g, needs_grad)

    return computed
