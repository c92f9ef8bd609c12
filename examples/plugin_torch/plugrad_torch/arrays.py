"""Arrays of PyTorch: how they come in and out, which devices there are, what they compute with."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.arrays.backend import Device
from core.arrays.windows import Geometry
from core.errors import BackendError
from core.typing import Sizes
from plugrad_torch import devices
from plugrad_torch.backend import TorchBackend
from plugrad_torch.graphs import Graphs
from plugrad_torch.indexing import goes_back, names_once, of_numbers, part_of, places_of
from plugrad_torch.namespace import NAMESPACE
from plugrad_torch.random import TorchRandom

_HALF = ("float16", "bfloat16")


class Tensors(TorchBackend):
    """Tensors that record no graph, on any device of PyTorch."""

    array_type = Tensor
    xp = NAMESPACE
    names_devices = True
    detaches = False
    """Whether a tensor that requires a gradient is detached; else it is refused."""

    def __init__(self) -> None:
        self.random = TorchRandom(self)
        self._ids = devices.found()
        self._alone = len(self._ids) == 1

    # -- in and out ----------------------------------------------------------------------------

    def asarray(self, obj: Any, dtype: Any = None, device: Any = None) -> Tensor:
        """A tensor, from anything: host arrays are copied."""
        wanted = None if dtype is None else self.dtype(dtype)
        if isinstance(obj, Tensor):
            obj = self.taken(obj)
            place = obj.device if device is None else self.native_device(device)
            return obj.to(place, wanted or obj.dtype)
        host = np.array(obj, order="C")
        if wanted not in (None, torch.bool) and not (wanted.is_floating_point or wanted.is_complex):
            host = host if hasattr(obj, "dtype") else np.array(obj, self.dtype_name(wanted))
        if not host.dtype.isnative:  # for which PyTorch has no dtype
            host = host.astype(host.dtype.newbyteorder("="))
        if host.dtype.name == "bfloat16":
            made = torch.from_numpy(host.view("int16")).view(torch.bfloat16)
        else:
            made = torch.from_numpy(host)
        return made.to(self.native_device(device), wanted or made.dtype)

    def to_host(self, array: Tensor) -> Any:
        """The values in host memory, which a tensor on the CPU shares."""
        array = array.detach().cpu().resolve_conj().resolve_neg()
        if array.dtype is torch.bfloat16:
            import ml_dtypes

            return array.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
        return array.numpy()

    def taken(self, array: Tensor) -> Tensor:
        """A tensor from outside; one that PyTorch records a graph of is refused or detached.

        What is only to be seen as conjugate or negative is copied: DLPack would not tell of it.
        """
        if array.layout is not torch.strided:
            raise BackendError(
                f"torch: this tensor is laid out as {array.layout}. Give tensor.to_dense()."
            )
        if array.is_neg() or array.is_conj():
            array = array.resolve_conj().resolve_neg()
        if not array.requires_grad:
            return array
        if self.detaches:
            return array.detach()
        raise BackendError(
            "torch: this tensor requires a gradient of PyTorch's own, which plugrad would not "
            "see. Give tensor.detach(), or have it done: "
            "core.backend.get('torch').detaches = True. plugrad.interop joins both graphs."
        )

    # -- dtypes --------------------------------------------------------------------------------

    def dtypes(self) -> tuple[str, ...]:
        """The standard's dtypes, and those of 16 bits."""
        return (*_HALF, *super().dtypes())

    # -- devices -------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        """The CPU, and whatever accelerators PyTorch has."""
        return [Device(self, id) for id in self._ids]

    def device_of(self, array: Tensor) -> Device:
        """Where a tensor lives."""
        return Device(self, devices.id_of(array.device))

    def spec_device(self, array: Tensor) -> Any:
        """PyTorch's own device; None where there is the CPU alone."""
        return None if self._alone else array.device

    def named(self, spec_device: Any) -> Device:
        """The device that `spec_device` stands for."""
        return Device(self, "cpu" if spec_device is None else devices.id_of(spec_device))

    def native_device(self, device: Any = None) -> torch.device:
        """PyTorch's own object for a device."""
        if isinstance(device, torch.device):
            return device
        return torch.device(self.as_device(device).id)

    def as_device(self, device: Any = None) -> Device:
        """A device of ours from one, from PyTorch's, or from what either is called."""
        if isinstance(device, (str, torch.device)):
            device = devices.id_of(torch.device(device)) if devices.is_known(device) else device
        return super().as_device(device)

    def to_device(self, array: Tensor, device: Any = None) -> Tensor:
        """The tensor on another device; itself where it is there already."""
        return array.to(self.native_device(device))

    def entered(self, device: Device) -> AbstractContextManager[Any]:
        """A context in which a GPU is PyTorch's current one."""
        return devices.entered(self.native_device(device))

    def synchronize(self, device: Any = None) -> None:
        """Wait for what a device has been asked."""
        devices.synchronize(self.native_device(device))

    def memory_stats(self) -> dict[str, int]:
        """What PyTorch holds of the memory of GPUs."""
        if not torch.cuda.is_available():
            return {}
        return {"used": torch.cuda.memory_allocated(), "held": torch.cuda.memory_reserved()}

    def release_memory(self) -> None:
        """Give what PyTorch keeps of a GPU back."""
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def limited_threads(self, number: int) -> AbstractContextManager[Any]:
        """PyTorch's own threads, for what this thread computes."""
        return devices.limited_threads(number)

    # -- captured steps ------------------------------------------------------------------------

    @property
    def stage(self) -> Any:
        """What records CUDA graphs, while a GPU of CUDA's is the current device; else None."""
        return self._launched if self.default_device().id.startswith("cuda") else None

    def _launched(self, function: Any) -> Any:
        """A CUDA graph of a function, recorded in its second call."""
        from core.programs import Launched

        return Launched(function, self, Graphs())

    # -- copies and sums -----------------------------------------------------------------------

    def copy(self, array: Tensor) -> Tensor:
        """Another tensor of the same values, as they lie."""
        return array.clone()

    def memory(self, array: Tensor) -> int:
        """What tells apart whose memory a tensor shows."""
        base = array._base
        return id(array if base is None else base)

    def writable(self, array: Tensor) -> bool:
        """Whether no element is shown twice, and PyTorch lets it be changed here."""
        if array.is_inference() and not torch.is_inference_mode_enabled():
            return False
        axes = zip(array.shape, array.stride(), strict=True)
        return not array.numel() or all([step or n < 2 for n, step in axes])

    def copyto(self, dst: Tensor, src: Any) -> Tensor:
        """Write a number or an array of any backend into `dst`."""
        return super().copyto(dst, self.taken(src) if isinstance(src, Tensor) else src)

    def put(self, a: Tensor, index: Any, value: Any) -> Tensor:
        """`a[index] = value`, also where PyTorch has no such slices."""
        if not goes_back(index):
            a[of_numbers(index)] = value
        elif a.numel():
            a[places_of(a, index)] = value
        return a

    def put_sum(self, a: Tensor, index: Any, value: Any) -> Tensor:
        """`a[index] += value`, the same."""
        return self.put(a, index, part_of(a, index) + value)

    def scatter_add(self, a: Tensor, index: Any, values: Any) -> Tensor:
        """`a[index] += values`, as often as a place is named."""
        parts = index if isinstance(index, tuple) else (index,)
        if not a.numel():
            return a
        if names_once(parts):
            a[index].add_(values)
            return a
        if parts and all([isinstance(part, Tensor) for part in parts]):
            places = tuple([p.long() if p.dtype is not torch.bool else p for p in parts])
        elif not a.ndim:
            return a.add_(torch.as_tensor(values).sum())  # which may have axes of one element
        else:
            places = places_of(a, index)
        values = torch.as_tensor(values, dtype=a.dtype, device=a.device)
        return a.index_put_(places, values, accumulate=True)

    def windows(
        self,
        x: Tensor,
        ksize: Sizes,
        stride: Sizes = 1,
        pad: Sizes = 0,
        dilate: Sizes = 1,
        cover_all: bool = False,
        pad_value: float = 0.0,
    ) -> Tensor:
        """All windows of `x` (n, c, *spatial): a view (n, c, *ksize, *out), not to be written."""
        g = Geometry(x.shape[2:], ksize, stride, pad, dilate, cover_all).checked()
        widths = [n for pair in reversed(g.widths()) for n in pair]
        padded = torch.nn.functional.pad(x, widths, value=pad_value) if any(widths) else x
        along = padded.stride()
        inside = [s * d for s, d in zip(along[2:], g.dilate, strict=True)]
        across = [s * d for s, d in zip(along[2:], g.stride, strict=True)]
        return padded.as_strided(
            (*x.shape[:2], *g.ksize, *g.out),
            (*along[:2], *inside, *across),
            padded.storage_offset(),
        )

    def outside(self, numbers: Tensor, size: int) -> bool:
        """Whether a number is not in [0, size); on an accelerator only in debug mode."""
        if numbers.device.type != "cpu":
            from core import is_debug

            if not is_debug():
                return False
        if not numbers.numel():
            return False
        least, greatest = torch.aminmax(numbers)
        return not 0 <= int(least) <= int(greatest) < size
