"""CuPy's arrays as a backend. CuPy is imported when the backend is made, never with this module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from backends.cuda_backend.launching import Kernels
from backends.cuda_backend.namespace import Namespace
from backends.cuda_backend.presence import missing
from backends.cuda_backend.products import Products
from backends.cuda_backend.random import CudaRandom
from backends.cuda_backend.recording import Unrecorded
from backends.cuda_backend.uploader import Uploader
from core import is_debug
from core.arrays.backend import Array, Backend, Device, host
from core.arrays.windows import Geometry
from core.arrays.windows import pad as pad_with
from core.errors.dtypes import no_dtype
from core.registry.once import once
from core.typing import Sizes

if TYPE_CHECKING:
    from backends.cuda_backend.cudnn.plans import Plans
    from backends.cuda_backend.epilogues import Epilogues
    from backends.cuda_backend.updates import Updates
    from core.programs import Fuser
    from core.tracing import Formulas


class CudaBackend(Backend):
    """Arrays on NVIDIA GPUs, one device each."""

    name = "cuda"
    library = "cupy"
    on_gpu = True

    def __init__(self) -> None:
        self.cupy = import_module("cupy")
        self.array_type = self.cupy.ndarray
        self.xp = Namespace(self.cupy, self._on, self._all_devices)
        self.xp.matmul = Products(self.cupy).matmul
        self.xp.fft = Unrecorded(self.cupy.fft, "fft")
        self._compiler = Kernels(self.cupy)
        self._names: dict[Any, str] = {}
        self.random = CudaRandom(self, self.cupy, self._compiler)

    @classmethod
    def unavailable(cls) -> str | None:
        """Why CUDA cannot be used here, with the cure; None where it can."""
        return missing()

    # -- kernels -------------------------------------------------------------------------------

    def fuser(self) -> Fuser:
        """Loops in CUDA C, compiled when they are first called on a device."""
        return self._loops

    @once
    def _loops(self) -> Fuser:
        from backends.cuda_backend.fusion import CudaLoops

        return CudaLoops(self.cupy, self._compiler)

    @once
    def formulas(self) -> Formulas:
        """Kernels from the formulas of operations."""
        from core.tracing import Formulas

        return Formulas(self, self._loops)

    @once
    def updates(self) -> Updates:
        """Kernels from the steps of update rules."""
        from backends.cuda_backend.updates import Updates

        return Updates(self, lambda array: array.data.ptr, self._compiler)

    def stage(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A CUDA graph of the function, recorded in its second call."""
        from backends.cuda_backend.graphs import Graphs
        from core.programs import Launched

        return Launched(function, self, Graphs(self.cupy))

    @once
    def without_cudnn(self) -> str | None:
        """What keeps cuDNN from being used, with the cure; None where nothing does."""
        from backends.cuda_backend.cudnn.presence import missing

        return missing()

    @once
    def cudnn(self) -> Plans | None:
        """The plans of cuDNN; None where it is not there."""
        from backends.cuda_backend.cudnn.plans import Plans

        return None if self.without_cudnn else Plans(self.cupy)

    @once
    def without_epilogues(self) -> str | None:
        """What keeps nvmath-python from being used, with the cure; None where nothing does."""
        from backends.cuda_backend.epilogues import missing

        return missing()

    @once
    def epilogues(self) -> Epilogues | None:
        """Products with a bias by nvmath-python; None where it is not there."""
        from backends.cuda_backend.epilogues import Epilogues

        return None if self.without_epilogues else Epilogues(self.cupy)

    def state(self) -> dict[str, Any]:
        """What computes, and what has been left to CuPy so far."""
        from backends.cuda_backend import state

        return state.of(self)

    # -- devices -------------------------------------------------------------------------------

    def _on(self, device: Any) -> AbstractContextManager[Any]:
        """The context in which CuPy works on a device, given as ours, CuPy's or a number."""
        found: AbstractContextManager[Any] = self.cupy.cuda.Device(getattr(device, "id", device))
        return found

    def _all_devices(self) -> list[Any]:
        cuda = self.cupy.cuda
        return [cuda.Device(i) for i in range(cuda.runtime.getDeviceCount())]

    def device_of(self, array: Array) -> Device:
        """The GPU an array lives on."""
        return Device(self, int(array.device.id))

    def spec_device(self, array: Array) -> int:
        """The number of the GPU."""
        return int(array.device.id)

    def default_device(self) -> Device:
        """The active `using_device` if it is a GPU, else the one that CuPy takes as current."""
        chosen = self._chosen_device()
        return chosen if chosen is not None else Device(self, int(self.cupy.cuda.Device().id))

    def native_device(self, device: Any = None) -> Any:
        """CuPy's object for a device."""
        return self.cupy.cuda.Device(self.as_device(device).id)

    def to_device(self, array: Array, device: Any = None) -> Array:
        """The array on another GPU; itself where it is there already."""
        target, source = self.as_device(device), self.device_of(array)
        if source == target:
            return array
        # The copy is made in the target's stream, of what the source's has been asked to write.
        written = self._reached(source)
        with self._on(target):
            self.cupy.cuda.get_current_stream().wait_event(written)
            made = self.cupy.array(array)
        read = self._reached(target)
        with self._on(source):  # whose memory may be written to again only then
            self.cupy.cuda.get_current_stream().wait_event(read)
        return made

    def _reached(self, device: Device) -> Any:
        """The event that a device's current stream has done what it was asked until now."""
        with self._on(device):
            return self.cupy.cuda.get_current_stream().record()

    def entered(self, device: Device) -> AbstractContextManager[Any]:
        """A context in which CuPy itself works on the device."""
        return self._on(device)

    def around(self, spec_device: Any) -> Callable[[], AbstractContextManager[Any]] | None:
        """CuPy computes on the device that is current, wherever arrays lie."""
        if self._count < 2:
            return None
        return lambda: self._on(spec_device)

    @once
    def _count(self) -> int:
        return int(self.cupy.cuda.runtime.getDeviceCount())

    def synchronize(self, device: Any = None) -> None:
        """Wait until the device has done all that was asked of it."""
        self.native_device(device).synchronize()

    def outside(self, numbers: Array, size: int) -> bool:
        """As everywhere in debug mode; else False, since to look would be to wait."""
        return is_debug() and super().outside(numbers, size)

    @contextmanager
    def stream(self, device: Any = None) -> Iterator[Any]:
        """A stream of its own for what runs inside, after all that the current one was asked.

        The caller synchronizes before using what was computed in it.
        """
        cuda = self.cupy.cuda
        with self._on(self.as_device(device)):
            stream = cuda.Stream(non_blocking=True)
            stream.wait_event(cuda.get_current_stream().record())
            with stream:
                yield stream

    def uploader(
        self, device: Any = None, stream: Any = None, compute_stream: Any = None
    ) -> Callable[[Sequence[Any]], list[Array]]:
        """Copies through pinned memory, in a stream of their own."""
        return Uploader(self.cupy, self.native_device(device), stream, compute_stream)

    def memory_stats(self) -> dict[str, int]:
        """Bytes in arrays and bytes held by CuPy's pools of the current GPU, graphs' included."""
        from backends.cuda_backend.graphs import POOLS

        pools = [self.cupy.get_default_memory_pool(), *POOLS.values()]
        return {
            "used": sum([pool.used_bytes() for pool in pools]),
            "held": sum([pool.total_bytes() for pool in pools]),
        }

    def release_memory(self) -> None:
        """Give the free blocks of CuPy's memory pools, of the GPU and of pinned memory, back."""
        self.cupy.get_default_memory_pool().free_all_blocks()
        self.cupy.get_default_pinned_memory_pool().free_all_blocks()

    # -- copies --------------------------------------------------------------------------------

    def asarray(self, obj: Any, dtype: Any = None, device: Any = None) -> Array:
        """A CuPy array from a host array, a sequence, a number or an array on any GPU."""
        dtype = None if dtype is None else self.dtype(dtype)
        if isinstance(obj, self.array_type):
            obj = obj if device is None else self.to_device(obj, device)
            if dtype is None or dtype == obj.dtype:
                return obj
            with self._on(obj.device):
                return obj.astype(dtype)
        with self._on(self.as_device(device)):
            return self.cupy.asarray(obj, dtype=dtype)

    def to_host(self, array: Array) -> Any:
        """A copy in a `numpy.ndarray`."""
        return self.cupy.asnumpy(array)

    def copy(self, array: Array) -> Array:
        """A new array on the same GPU."""
        with self._on(array.device):
            return array.copy()

    # -- data types ----------------------------------------------------------------------------

    def dtype(self, name: Any) -> Any:
        """The dtype object, which is NumPy's, of a name.

        bfloat16 is that of ml_dtypes, which is imported when it is asked for.
        """
        if isinstance(name, str) and name == "bfloat16":
            return host().dtype(name)
        try:
            return self.cupy.dtype(name)
        except TypeError:
            raise no_dtype(name, self.dtypes(), "CuPy has no dtype") from None

    def dtype_name(self, dtype: Any) -> str:
        """The plain name of a dtype, `'float32'`."""
        found = self._names.get(dtype)
        if found is None:  # NumPy makes the text anew each time
            found = self._names[dtype] = str(self.cupy.dtype(dtype).name)
        return found

    def kind(self, dtype: Any) -> str:
        """One letter, as NumPy's."""
        return str(self.cupy.dtype(dtype).kind)

    def dtypes(self) -> tuple[str, ...]:
        """The standard's dtypes, and float16."""
        return ("float16", *super().dtypes())

    # -- what the standard lacks ---------------------------------------------------------------

    def scatter_add(self, a: Array, index: Any, values: Any) -> Array:
        """`a[index] += values` in place, in the order of the values; nothing is added atomically.

        Complex numbers are, and integers of other sizes than 32 and 64 bits.
        """
        from backends.cuda_backend.scatter import scatter_add

        with self._on(a.device):
            name = self.dtype_name(a.dtype)
            return scatter_add(self.xp, self._compiler, a, index, values, name)

    def windows(
        self,
        x: Array,
        ksize: Sizes,
        stride: Sizes = 1,
        pad: Sizes = 0,
        dilate: Sizes = 1,
        cover_all: bool = False,
        pad_value: float = 0.0,
    ) -> Array:
        """All windows of `x` (n, c, *spatial) as a view (n, c, *ksize, *out), only to be read."""
        g = Geometry(x.shape[2:], ksize, stride, pad, dilate, cover_all).checked()
        padded = pad_with(self.xp, x, [(0, 0), (0, 0), *g.widths()], pad_value)
        return self.cupy.lib.stride_tricks.as_strided(padded, *g.strided(padded))
