"""Arrays of JAX, which never change: what writes gives another one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from operator import is_
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from core.arrays.backend import Device
from plugrad_jax.backend import JaxBackend
from plugrad_jax.random import JaxRandom

jax.config.update("jax_enable_x64", True)  # else float64 would silently become float32


class Arrays(JaxBackend):
    """Arrays of any device that JAX has: jax:cpu:0, jax:gpu:1."""

    array_type = type(jnp.zeros(0))
    xp = jnp
    mutable = False
    names_devices = True

    def __init__(self) -> None:
        self.random = JaxRandom(self)
        self._places = {f"{d.platform}:{d.id}": d for kind in _kinds() for d in jax.devices(kind)}
        self._names = {place: name for name, place in self._places.items()}
        self._alone = len(self._places) == 1

    # -- in and out ----------------------------------------------------------------------------

    def asarray(self, obj: Any, dtype: Any = None, device: Any = None) -> Any:
        """An array, from anything: host arrays are copied."""
        wanted = None if dtype is None else self.dtype(dtype)
        if isinstance(obj, self.array_type):
            obj = obj if wanted in (None, obj.dtype) else obj.astype(wanted)
            return obj if device is None else self.to_device(obj, device)
        host = np.array(obj, dtype=wanted)
        return jax.device_put(host, self.native_device(device), may_alias=False)

    def to_host(self, array: Any) -> Any:
        """A copy in host memory: what JAX itself shows there cannot be written to."""
        return np.array(array)

    # -- dtypes --------------------------------------------------------------------------------

    def dtypes(self) -> tuple[str, ...]:
        """The standard's dtypes, and those of 16 bits."""
        return ("float16", "bfloat16", *super().dtypes())

    def dtype(self, name: Any) -> Any:
        """NumPy's dtype of a name, which JAX's arrays have; bfloat16 is that of ml_dtypes."""
        return jnp.dtype(super().dtype(name))

    def dtype_name(self, dtype: Any) -> str:
        """The plain name of a dtype."""
        return str(jnp.dtype(dtype).name)

    def kind(self, dtype: Any) -> str:
        """NumPy's letter."""
        return str(jnp.dtype(dtype).kind)

    # -- devices -------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        """All devices, JAX's default one first."""
        return [Device(self, name) for name in self._places]

    def device_of(self, array: Any) -> Device:
        """Where an array lives."""
        return self.named(array.device)

    def spec_device(self, array: Any) -> Any:
        """JAX's own device; None where there is one alone."""
        return None if self._alone else array.device

    def named(self, spec_device: Any) -> Device:
        """The device that `spec_device` stands for."""
        return self.devices()[0] if spec_device is None else Device(self, self._names[spec_device])

    def native_device(self, device: Any = None) -> Any:
        """JAX's own object for a device."""
        return device if device in self._names else self._places[self.as_device(device).id]

    def as_device(self, device: Any = None) -> Device:
        """A device of ours from one, from JAX's, or from what either is called."""
        if isinstance(device, jax.Device):
            device = self._names.get(device, device)
        return super().as_device(device)

    def to_device(self, array: Any, device: Any = None) -> Any:
        """The array on another device; itself where it is there already."""
        place = self.native_device(device)
        return array if array.device == place else jax.device_put(array, place)

    def entered(self, device: Device) -> AbstractContextManager[Any]:
        """A context in which JAX makes new arrays there."""
        return jax.default_device(self._places[device.id])

    def synchronize(self, device: Any = None) -> None:
        """Wait for all that has been asked."""
        jax.effects_barrier()

    # -- captured steps ------------------------------------------------------------------------

    def stage(self, function: Any) -> Any:
        """What JAX compiles of the whole function, when it is first called."""
        return jax.jit(function)

    # -- what writes gives another array -------------------------------------------------------

    def copy(self, array: Any) -> Any:
        """Another array of the same values."""
        return jnp.array(array, copy=True)

    def put(self, a: Any, index: Any, value: Any) -> Any:
        """`a` with `value` where an index says."""
        return a.at[_wide(index)].set(value)

    def put_sum(self, a: Any, index: Any, value: Any) -> Any:
        """`a` with `value` added where an index says."""
        return a.at[_wide(index)].add(value)

    def scatter_add(self, a: Any, index: Any, values: Any) -> Any:
        """`a` with values added as often as the index names a place."""
        return a.at[_wide(index)].add(values)

    def memory(self, array: Any) -> int:
        """Arrays that never change share nothing that could be told."""
        return id(array)


def get_item(f: Any, xp: Any, x: Any) -> Any:
    """The kernel of x[slices], where numbers in them are of too few bits for JAX."""
    index = _wide(f.slices)
    return NotImplemented if index is f.slices else x[index]


def _wide(index: Any) -> Any:
    """An index with int8 in 64 bits: JAX adds the size of an axis to its numbers."""
    if isinstance(index, tuple):
        parts = tuple(map(_wide, index))
        return index if all(map(is_, parts, index)) else parts
    return index.astype("int64") if getattr(index, "dtype", None) == "int8" else index


def _kinds() -> list[str]:
    """The kinds of devices: JAX's default one, and the CPU."""
    default = jax.default_backend()
    return [default] if default == "cpu" else [default, "cpu"]
