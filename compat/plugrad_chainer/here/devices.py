"""Devices as version 7 names them: `chainer.backend`, and iDeep, which is not there."""

from __future__ import annotations

from typing import Any

import core
from core.arrays import backend as backends
from core.arrays.backend import Device
from core.errors import BackendUnavailable


class _Kind(type):
    """A class of devices that is told by what a device is, for here they all have one class."""

    def __instancecheck__(cls, device: object) -> bool:
        return isinstance(device, Device) and cls.has(device)  # type: ignore[attr-defined]

    def __subclasscheck__(cls, other: type) -> bool:
        return other is cls


class CpuDevice(metaclass=_Kind):
    """NumPy's device: `CpuDevice()` gives it."""

    def __new__(cls) -> Any:
        """The device."""
        return backends.host().default_device()

    @staticmethod
    def has(device: Device) -> bool:
        """Whether the device is the host."""
        return not device.backend.on_gpu

    @staticmethod
    def from_array(array: Any) -> Device | None:
        """The device of an array, if that is the host."""
        return _of(array, CpuDevice)


class GpuDevice(metaclass=_Kind):
    """A GPU's device: `GpuDevice.from_device_id(0)` gives one."""

    def __new__(cls, device: Any) -> Any:
        """Our device of one of CuPy's."""
        return core.get_device(int(device.id))

    @staticmethod
    def has(device: Device) -> bool:
        """Whether the device is a GPU."""
        return device.backend.on_gpu

    @staticmethod
    def from_device_id(device_id: int) -> Device:
        """The GPU of this number."""
        return core.get_device(int(device_id))

    @staticmethod
    def from_array(array: Any) -> Device | None:
        """The device of an array, if that is a GPU."""
        return _of(array, GpuDevice)


class _Absent(_Kind):
    def __call__(cls, *args: Any) -> Any:
        raise BackendUnavailable(
            f"{cls.__name__}: there is none in plugrad. Use the device '@numpy', which computes on "
            "the CPU with the same results, or '@cupy:0' on a GPU."
        )


class Intel64Device(metaclass=_Absent):
    """iDeep's device, of which there is none."""

    @staticmethod
    def has(device: Device) -> bool:
        """Never."""
        return False

    @staticmethod
    def from_array(array: Any) -> None:
        """No array is iDeep's."""
        return None


class ChainerxDevice(metaclass=_Absent):
    """ChainerX's device, of which there is none."""

    @staticmethod
    def has(device: Device) -> bool:
        """Never."""
        return False

    @staticmethod
    def from_array(array: Any) -> None:
        """No array is ChainerX's."""
        return None

    @staticmethod
    def from_fallback_device(device: Any) -> Any:
        """Refused: there is no ChainerX."""
        return ChainerxDevice(device)  # type: ignore[call-arg]


def _of(array: Any, kind: Any) -> Device | None:
    device = backends.get_device_from_array(array)
    return device if isinstance(device, kind) else None


def get_device(device_spec: Any) -> Device:
    """The device of a specifier of version 7: '@numpy', '@cupy:0', 0, -1, '0', `(xp, 0)`, a device.

    '@intel64' gives NumPy's device: iDeep made Chainer faster on it, and changed no result.
    """
    if isinstance(device_spec, str):
        name = device_spec.removeprefix("@")
        if name == "intel64":
            return backends.host().default_device()
        if name.lstrip("-").isdigit() and name == device_spec:
            device_spec = int(name)
        elif name.partition(":")[0] == "cupy":
            return core.get_device("cuda" + name.removeprefix("cupy"))
        elif name == device_spec and name.partition(":")[0] in ("native", "cuda"):
            ChainerxDevice(device_spec)  # type: ignore[call-arg]
        else:
            return core.get_device(name)
    if isinstance(device_spec, tuple) and device_spec and hasattr(device_spec[0], "__name__"):
        name = {"numpy": "numpy", "cupy": "cuda"}.get(device_spec[0].__name__, "")
        return core.get_device(":".join([name, *map(str, device_spec[1:])]))
    if getattr(device_spec, "__name__", None) in ("numpy", "cupy"):
        return core.get_device({"numpy": "numpy", "cupy": "cuda"}[device_spec.__name__])
    if type(device_spec) is int:
        return backends.host().default_device() if device_spec < 0 else core.get_device(device_spec)
    if type(device_spec).__module__.startswith("cupy.cuda"):
        return core.get_device(int(device_spec.id))
    return core.get_device(device_spec)


def using_device(device_spec: Any) -> Any:
    """A `with` block in which new arrays are made on a device."""
    return core.using_device(get_device(device_spec))


def from_chx(array: Any) -> Any:
    """The array itself: none is ChainerX's."""
    return array


def to_chx(array: Any) -> Any:
    """Refused: there is no ChainerX."""
    return ChainerxDevice(array)  # type: ignore[call-arg]


# -- iDeep ----------------------------------------------------------------------------------------

mdarray = type("mdarray", (), {"__doc__": "iDeep's arrays: nothing is one."})


def is_ideep_available() -> bool:
    """Never."""
    return False


def check_ideep_available() -> None:
    """Raise, as Chainer does without iDeep."""
    raise RuntimeError(
        "iDeep is not available: plugrad computes with NumPy, and gives the same results. Leave "
        "the check, `to_intel64()` and `config.use_ideep` out."
    )


def should_use_ideep(level: str) -> bool:
    """Whether to use iDeep: never."""
    return False


def inputs_all_ready(inputs: Any, supported_ndim: Any = (2, 4)) -> bool:
    """Whether iDeep can take the inputs: never."""
    return False
