"""Products of matrices by cuBLAS itself, for graphs: CuPy refuses them while a stream records.

Matrices of CuPy's lie by rows, those of cuBLAS by columns. What lies as A by rows lies as its
transpose by columns, and the transpose of A B is that of B times that of A. So cuBLAS is asked for
B first, then A, and what it writes lies as A B by rows.

Source: NVIDIA, cuBLAS 12.9, `cublas_api.h` and `library_types.h` for the functions and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import CDLL, byref, c_double, c_float, c_int, c_int64, c_size_t, c_void_p
from importlib import import_module
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

from backends.cuda_backend.recording import Recording

TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 14}
"""cudaDataType of what products are of."""

SUM_32, SUM_64, SUM_TF32 = 68, 70, 77
"""cublasComputeType: sums in float32, those of 16-bit floats too, and in float64."""

ALGORITHM = -1  # CUBLAS_GEMM_DEFAULT

_SIDE = [c_void_p, c_int, c_int64]  # where a matrix lies, of what it is, from column to column
_HEAD = [c_void_p, c_int, c_int, c_int64, c_int64, c_int64]
_TAIL = [c_int, c_int]
SIGNATURES = {
    "cublasSetStream_v2": [c_void_p, c_void_p],
    "cublasSetWorkspace_v2": [c_void_p, c_void_p, c_size_t],
    "cublasGemmEx_64": [*_HEAD, c_void_p, *_SIDE, *_SIDE, c_void_p, *_SIDE, *_TAIL],
    "cublasGemmStridedBatchedEx_64": [
        *(*_HEAD, c_void_p, *_SIDE, c_int64, *_SIDE, c_int64, c_void_p, *_SIDE, c_int64),
        *(c_int64, *_TAIL),
    ],
}
"""The arguments of the functions that are called; each gives a status."""


class CublasError(RuntimeError):
    """cuBLAS has refused a call."""


class Cublas:
    """cuBLAS as CuPy has loaded it, on the handles that CuPy has for each thread and GPU.

    Args:
        cupy: CuPy, on whose current device products are computed, and of whose arrays.
        library: What has the functions; by default what CuPy has loaded.

    Raises AttributeError or OSError where they cannot be reached.
    """

    def __init__(self, cupy: Any, library: Any = None) -> None:
        self._cupy = cupy
        if library is None:  # a module that is linked with cuBLAS: what that has is found in it
            library = CDLL(import_module("cupy_backends.cuda.libs").cublas.__file__)
        self._device = import_module("cupy.cuda.device")
        self._exactness = import_module("cupy._core._routines_linalg")
        self._functions = {name: getattr(library, name) for name in SIGNATURES}
        for name, function in self._functions.items():
            function.argtypes, function.restype = SIGNATURES[name], c_int

    def call(self, name: str, *args: Any) -> None:
        """Call a function, on the handle of the current thread and GPU.

        Raises CublasError where it gives another status than 0.
        """
        status = self._functions[name](self._device.get_cublas_handle(), *args)
        if status:
            raise CublasError(f"{name}: cuBLAS gives status {status}")

    def workspace(self) -> Any:
        """Memory for a graph's products, as much as cuBLAS would take by itself on this GPU."""
        capability = int(self._device.get_compute_capability())
        return self._cupy.empty((32 if capability >= 90 else 4) << 20, dtype="uint8")

    def _sums(self, dtype: str, several: bool) -> int:
        """How CuPy would have products summed; it has no TensorFloat-32 for stacks."""
        if dtype == "float64":
            return SUM_64
        if several or dtype != "float32":
            return SUM_32
        found = self._exactness.get_compute_type(self._cupy.dtype(dtype))
        return SUM_TF32 if found == self._exactness.COMPUTE_TYPE_TF32 else SUM_32

    def matmul(self, made: Recording, a: Any, b: Any) -> Any:
        """The product as NumPy's `matmul` has it, of what is not empty, in a recorded stream."""
        xp = self._cupy
        dtype = xp.result_type(a.dtype, b.dtype)
        ends = (*a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ()))
        a, b = a if a.ndim > 1 else a[None], b if b.ndim > 1 else b[:, None]
        several = max(a.ndim, b.ndim) > 2
        lead = xp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        y = xp.empty((*lead, a.shape[-2], b.shape[-1]), dtype=dtype)
        placed = [self._placed(x, dtype, lead) for x in (b, a)]
        kind, sums = TYPES[dtype.name], self._sums(dtype.name, several)
        number = c_double if sums == SUM_64 else c_float
        # Setting the stream gives the workspace back, and so comes first.
        workspace = made.keep("workspace of cuBLAS", self.workspace)
        self.call("cublasSetStream_v2", made.stream.ptr)
        self.call("cublasSetWorkspace_v2", workspace.data.ptr, workspace.nbytes)
        name = "cublasGemmStridedBatchedEx_64" if several else "cublasGemmEx_64"
        of_sides = [
            (x.data.ptr, kind, side.step, *([side.apart] if several else ())) for x, side in placed
        ]
        columns, rows = y.shape[-1], y.shape[-2]
        of_result = (columns, rows * columns, prod(lead)) if several else (columns,)
        self.call(
            *(name, *[side.turned for _, side in placed], columns, rows, a.shape[-1]),
            *(byref(number(1)), *of_sides[0], *of_sides[1], byref(number(0))),
            *(y.data.ptr, kind, *of_result, sums, ALGORITHM),
        )
        return y.reshape(*lead, *ends)

    def _placed(self, x: Any, dtype: Any, lead: Sequence[int]) -> tuple[Any, Side]:
        """A stack as it is read, and where its matrices lie; copied where no step leads there."""
        xp = self._cupy
        x = xp.broadcast_to(x.astype(dtype, copy=False), (*lead, *x.shape[-2:]))
        found = side(x.shape, x.strides, x.itemsize)
        if found is None:
            x = xp.ascontiguousarray(x)
            found = side(x.shape, x.strides, x.itemsize)
        assert found is not None  # noqa: S101  of what lies without gaps
        return x, found


class Side(NamedTuple):
    """How cuBLAS is told of a stack of matrices that it reads, in elements."""

    turned: int
    """Its cublasOperation: 1 for one to be transposed, which lies by columns for us; else 0."""
    step: int
    """From one column, as cuBLAS sees it, to the next."""
    apart: int
    """From one matrix to the next; 0 where all are one."""


def side(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> Side | None:
    """What cuBLAS is told of matrices that lie so; None of those that it cannot read.

    >>> side((3, 4), (16, 4), 4), side((4, 3), (4, 16), 4)
    (Side(turned=0, step=4, apart=0), Side(turned=1, step=4, apart=0))
    >>> side((5, 3, 4), (0, 32, 4), 4), side((3, 4), (32, 8), 4)
    (Side(turned=0, step=8, apart=0), None)
    """
    steps = [stride for n, stride in zip(shape, strides, strict=True) if n > 1]
    if any([step < 0 or step % itemsize for step in steps]):
        return None
    *lead, rows, columns = shape
    *outer, down, along = [stride // itemsize for stride in strides]
    stacked = [(n, step) for n, step in zip(lead, outer, strict=True) if n > 1]
    if any([before != n * step for (_, before), (n, step) in pairwise(stacked)]):
        return None
    apart = stacked[-1][1] if stacked else 0
    by_rows, by_columns = (rows, down, columns, along), (columns, along, rows, down)
    for turned, (n, step, length, inner) in enumerate((by_rows, by_columns)):
        if (inner == 1 or length == 1) and (n == 1 or step >= length):
            return Side(turned, length if n == 1 else step, apart)
    return None
