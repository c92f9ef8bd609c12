"""Products of matrices by cuBLAS: how exact, and of which numbers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from core import config


class Products:
    """CuPy's `matmul`, as `core.config.tf32` says, and of stacks of bfloat16 matrices as well.

    How exact products of float32 are, CuPy knows for the whole process; it is told where the
    setting has changed since the last product.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._tf32 = False
        self._before: Any = None  # what CuPy does by itself, as CUPY_TF32 says

    def matmul(self, x1: Any, x2: Any, /) -> Any:
        """The product; of a stack of bfloat16, which CuPy lacks, in float32 and rounded once."""
        tf32 = bool(config.tf32)
        if tf32 is not self._tf32:
            self._tell(tf32)
        if x1.dtype.name == "bfloat16" and (x1.ndim > 2 or x2.ndim > 2):
            product = self._cupy.matmul(x1.astype("float32"), x2.astype("float32"))
            return product.astype(x1.dtype)
        return self._cupy.matmul(x1, x2)

    def _tell(self, tf32: bool) -> None:
        of: Any = import_module("cupy._core._routines_linalg")
        single = self._cupy.dtype("float32")
        if tf32:
            self._before = of.get_compute_type(single)
        of.set_compute_type(single, of.COMPUTE_TYPE_TF32 if tf32 else self._before)
        self._tf32 = tf32
