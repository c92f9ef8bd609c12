"""Products of matrices by cuBLAS: how exact, of which numbers, and by whom it is called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import Any

from backends.cuda_backend.cublas import TYPES, Cublas
from backends.cuda_backend.recording import HERE
from core import config


class Products:
    """CuPy's `matmul`, as `core.config.tf32` says, and of stacks of bfloat16 matrices as well.

    While this thread makes a CUDA graph, cuBLAS is called past CuPy, which refuses. How exact
    products of float32 are, CuPy knows for the whole process; it is told around each product with
    `tf32`, so that other ones, as by `@`, are exact.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy

    @cached_property
    def _cublas(self) -> Cublas:
        return Cublas(self._cupy)

    def matmul(self, x1: Any, x2: Any, /) -> Any:
        """The product; of a stack of bfloat16, which CuPy lacks, in float32 and rounded once.

        A stack without gaps, times one matrix, is one product of all of its rows.
        """
        if x2.ndim == 2 < x1.ndim and x1.size and x1.flags.c_contiguous:
            rows = self._product(x1.reshape(-1, x1.shape[-1]), x2)
            return rows.reshape(*x1.shape[:-1], x2.shape[-1])
        if (x1.ndim > 2 or x2.ndim > 2) and x1.dtype.name == "bfloat16":
            product = self._product(x1.astype("float32"), x2.astype("float32"))
            return product.astype(x1.dtype)
        return self._product(x1, x2)

    def _product(self, x1: Any, x2: Any) -> Any:
        if not config.tf32:
            return self._computed(x1, x2)
        with self._rounded():
            return self._computed(x1, x2)

    def _computed(self, x1: Any, x2: Any) -> Any:
        if HERE.recording is not None and self._is_of_cublas(x1, x2):
            return self._cublas.matmul(HERE.recording, x1, x2)
        return self._cupy.matmul(x1, x2)

    def _is_of_cublas(self, x1: Any, x2: Any) -> bool:
        """Whether CuPy would call cuBLAS for it, and takes it at all."""
        xp = self._cupy
        if not (x1.ndim and x2.ndim and x1.size and x2.size):
            return False
        one = max(x1.ndim, x2.ndim) < 3 and x1.size == x2.size == x1.shape[-1]
        fits = x1.shape[-1] == x2.shape[-2 if x2.ndim > 1 else -1]
        return fits and not one and xp.result_type(x1.dtype, x2.dtype).name in TYPES

    @contextmanager
    def _rounded(self) -> Iterator[None]:
        """A context in which CuPy rounds what it multiplies, where the GPU can."""
        of: Any = import_module("cupy._core._routines_linalg")
        if int(import_module("cupy.cuda.device").get_compute_capability()) < 80:
            yield
            return
        single = self._cupy.dtype("float32")
        before = of.get_compute_type(single)  # as CUPY_TF32 says
        of.set_compute_type(single, of.COMPUTE_TYPE_TF32)
        try:
            yield
        finally:
            of.set_compute_type(single, before)
