"""Names of `chainer.cuda` that versions 1 and 7 have: PyCUDA's, and a class of devices.

What needs a GPU raises BackendUnavailable, with the reason and the cure, where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from plugrad_chainer.gone import Gone
from plugrad_chainer.here.devices import GpuDevice as GpuDevice

import core
from core.compat import cuda


def init(device: Any = None) -> None:
    """Check that there is a GPU, and use one if it is named."""
    cuda.check_cuda_available()
    if device is not None:
        use_device(device)


def shutdown() -> None:
    """Nothing: CuPy ends by itself."""


def use_device(arg: Any, pop: bool = True) -> None:
    """Make new arrays on a GPU from now on."""
    cuda.check_cuda_available()
    cuda.get_device(arg).use()


def using_device(*args: Any) -> Any:
    """A `with` block on the GPU of a number or of the first array that is on one; else nothing."""
    return cuda.get_device(*args)


DeviceUser = using_device


def seed(s: int | None = None, device: Any = None) -> None:
    """Seed the random numbers of the GPU."""
    cuda.check_cuda_available()
    core.seed(0 if s is None else s)


def to_cpu_async(array: Any, stream: Any = None) -> Any:
    """`to_cpu` in a stream."""
    return cuda.to_cpu(array, stream)


def to_gpu_async(array: Any, stream: Any = None) -> Any:
    """`to_gpu` in a stream."""
    return cuda.to_gpu(array, stream=stream)


def copy_async(array: Any, out: Any = None, out_device: Any = None, stream: Any = None) -> Any:
    """`copy` in a stream."""
    return cuda.copy(array, out, out_device, stream)


def empty(shape: Any, dtype: Any = np.float32) -> Any:
    """A new array on the GPU, with whatever values."""
    return cuda.cupy.empty(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = np.float32, stream: Any = None) -> Any:
    """A new array on the GPU of one value."""
    return cuda.cupy.full(shape, fill_value, dtype)


def zeros(shape: Any, dtype: Any = np.float32, stream: Any = None) -> Any:
    """A new array on the GPU of zeros."""
    return full(shape, 0, dtype, stream)


def ones(shape: Any, dtype: Any = np.float32, stream: Any = None) -> Any:
    """A new array on the GPU of ones."""
    return full(shape, 1, dtype, stream)


def empty_like(array: Any) -> Any:
    """A new array on the GPU like another, with whatever values."""
    return cuda.cupy.empty_like(array)


def full_like(array: Any, fill_value: Any, stream: Any = None) -> Any:
    """A new array on the GPU like another, of one value."""
    return cuda.cupy.full_like(array, fill_value)


def zeros_like(array: Any, stream: Any = None) -> Any:
    """A new array on the GPU like another, of zeros."""
    return full_like(array, 0, stream)


def ones_like(array: Any, stream: Any = None) -> Any:
    """A new array on the GPU like another, of ones."""
    return full_like(array, 1, stream)


def elementwise(*args: Any, **kwargs: Any) -> Any:
    """`core.cuda.elementwise`; the form that PyCUDA had is refused with today's."""
    if len(args) + len(kwargs) < 4:
        raise TypeError(
            "chainer.cuda.elementwise: a kernel with one list of arguments was PyCUDA's. Write "
            "elementwise('T x, T y, T z', 'T w', 'w = x * y + z', 'muladd_fwd')(x, y, z), which "
            "returns w."
        )
    return cuda.elementwise(*args, **kwargs)


def reduce(*args: Any, **kwargs: Any) -> Any:
    """`core.cuda.reduce`; the form that PyCUDA had is refused with today's."""
    if len(args) + len(kwargs) < 7:
        raise TypeError(
            "chainer.cuda.reduce: a kernel with one list of arguments was PyCUDA's. Write "
            "reduce('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'sum')(x), which returns y."
        )
    return cuda.reduce(*args, **kwargs)


_OF_PYCUDA = {
    "GPUArray": "Use chainer.cuda.ndarray.",
    "gpuarray": "Use chainer.cuda.cupy.",
    "cumath": "Use chainer.cuda.cupy.",
    "curandom": "Use chainer.cuda.cupy.random.",
    "culinalg": "Use chainer.cuda.cupy.linalg.",
    "cumisc": "Use chainer.cuda.cupy.",
    "cublas": "Use chainer.cuda.cupy.",
    "Context": "Use chainer.cuda.Device.",
    "get_context": "Use chainer.cuda.get_device.",
    "get_cublas_handle": "Use chainer.cuda.cupy.cuda.Device().cublas_handle.",
    "get_generator": "Use chainer.cuda.cupy.random.",
    "mem_alloc": "Use chainer.cuda.memory_pool.malloc.",
    "IPCEvent": "Use chainer.cuda.cupy.cuda.runtime.",
    "IPCArrayHandle": "Use chainer.cuda.cupy.cuda.runtime.",
    "using_cumisc": "Leave it out: CuPy has a handle of its own.",
    "CumiscUser": "Leave it out: CuPy has a handle of its own.",
}


def __getattr__(name: str) -> Any:
    """What PyCUDA had is refused with what CuPy has."""
    if name in _OF_PYCUDA:
        raise Gone(f"chainer.cuda.{name} was PyCUDA's. {_OF_PYCUDA[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
