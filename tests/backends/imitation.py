"""A CuPy that is NumPy inside: enough of it to walk the CUDA backend's code without a GPU.

Its arrays remember which of two devices they were made on, its functions give arrays even without
dimensions, and moving to the host has to be asked for, as with the real one.
"""

from __future__ import annotations

import functools
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

DEVICES = 2
_current = [0]


class Device:
    def __init__(self, id: int | None = None) -> None:
        self.id = _current[-1] if id is None else int(getattr(id, "id", id))
        if not 0 <= self.id < DEVICES:
            raise RuntimeError("cudaErrorInvalidDevice")

    def __enter__(self) -> Device:
        _current.append(self.id)
        return self

    def __exit__(self, *error: object) -> None:
        _current.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return self.id

    def use(self) -> None:
        _current[-1] = self.id

    def synchronize(self) -> None:
        pass


Device.__module__ = "cupy.cuda.device"


class Stream:
    ptr = 0
    waited: list[tuple[int, int]] = []  # by which device for which

    def __init__(self, non_blocking: bool = False) -> None:
        self.non_blocking = non_blocking

    def record(self) -> int:
        return _current[-1]

    def wait_event(self, event: int) -> None:
        self.waited.append((_current[-1], event))

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, ndarray) else x


strays: list[str] = []
"""What has been computed while another GPU was current than that of the arrays."""


class ndarray(np.ndarray):
    _gpu: int

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        gpus = [x._gpu for x in inputs if isinstance(x, ndarray)]
        if gpus and {*gpus} != {_current[-1]}:
            strays.append(ufunc.__name__)
        out = kwargs.pop("out", None)
        if out is not None:
            kwargs["out"] = tuple(map(plain, out))
        found = getattr(ufunc, method)(*map(plain, inputs), **kwargs)
        if out is not None:
            return out[0]
        if isinstance(found, np.ndarray):
            found = found.view(ndarray)
            found._gpu = gpus[0] if gpus else _current[-1]
        return found

    def __array_finalize__(self, source: Any) -> None:
        self._gpu = getattr(source, "_gpu", _current[-1])

    @property
    def device(self) -> Device:  # type: ignore[override]
        return Device(self._gpu)

    @property
    def data(self) -> Any:  # type: ignore[override]
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self, stream: Any = None) -> np.ndarray[Any, Any]:
        return np.array(self)


def here(value: Any) -> Any:
    """A result as arrays of this library, which has no scalars."""
    if isinstance(value, tuple):
        return tuple(map(here, value))
    if isinstance(value, np.ndarray | np.generic) and not isinstance(value, ndarray):
        return np.asarray(value).view(ndarray)
    return value


def lifted(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return here(function(*args, **kwargs))

    return call


class Pool:
    """One byte in use, and one that is kept until it is freed."""

    held = 2

    def used_bytes(self) -> int:
        return 1

    def total_bytes(self) -> int:
        return self.held

    def free_all_blocks(self) -> None:
        self.held = 1


class Imitation(ModuleType):
    def __init__(self) -> None:
        super().__init__("cupy")
        self.__spec__ = ModuleSpec("cupy", None)
        self.__version__ = "14"
        self.ndarray = ndarray
        self.count = DEVICES
        runtime = SimpleNamespace(getDeviceCount=lambda: self.count, getDevice=lambda: _current[-1])
        self.cuda = SimpleNamespace(
            Device=Device,
            Stream=Stream,
            Event=object,
            runtime=runtime,
            is_available=lambda: True,
            get_current_stream=Stream,
        )
        self.lib = SimpleNamespace(
            stride_tricks=SimpleNamespace(
                as_strided=functools.partial(np.lib.stride_tricks.as_strided, subok=True)
            )
        )
        self.kernels: list[tuple[Any, ...]] = []
        self._pool = Pool()

    def array(self, obj: Any, dtype: Any = None) -> Any:
        return np.array(plain(obj), dtype=dtype).view(ndarray)

    def asarray(self, obj: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        if isinstance(obj, ndarray) and not copy:
            return obj if dtype is None else here(obj.astype(dtype, copy=False))
        return self.array(obj, dtype)

    def asnumpy(self, array: Any) -> Any:
        return np.array(array)

    def ElementwiseKernel(self, *args: Any, **kwargs: Any) -> Any:
        self.kernels.append(args)
        return args

    ReductionKernel = RawKernel = ElementwiseKernel

    def get_default_memory_pool(self) -> Any:
        return self._pool

    get_default_pinned_memory_pool = get_default_memory_pool

    def fuse(self, *args: Any, **kwargs: Any) -> Any:
        return ("fused", args)

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        plain = isinstance(found, type) or not callable(found) or name in ("add", "dtype")
        return found if plain else lifted(found)
