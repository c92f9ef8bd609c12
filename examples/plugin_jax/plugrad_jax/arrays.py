"""Arrays of JAX, which never change: what writes gives another one."""

from __future__ import annotations

from contextlib import AbstractContextManager
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
        return a.at[_known(a, index)].set(value)

    def put_sum(self, a: Any, index: Any, value: Any) -> Any:
        """`a` with `value` added where an index says."""
        return a.at[_known(a, index)].add(value)

    def scatter_add(self, a: Any, index: Any, values: Any) -> Any:
        """`a` with values added as often as the index names a place."""
        return a.at[_known(a, index)].add(values)

    def memory(self, array: Any) -> int:
        """Arrays that never change share nothing that could be told."""
        return id(array)


def get_item(f: Any, xp: Any, x: Any) -> Any:
    """The kernel of x[slices], where JAX would take numbers in them for others."""
    index = _known(x, f.slices)
    return NotImplemented if index is f.slices else x[index]


def take(f: Any, xp: Any, x: Any, indices: Any) -> Any:
    """The kernel of what takes elements along an axis: the formula, of numbers within it."""
    _refuse_outside(indices, f.axis % x.ndim, x.shape)
    return NotImplemented


def _known(a: Any, index: Any) -> Any:
    """An index of `a` whose numbers are within its axes, those of int8 in 64 bits.

    JAX adds the size of an axis to its numbers, takes those beyond for the last one, and writes to
    none of them.
    """
    given = index if isinstance(index, tuple) else (index,)
    parts = [np.asarray(part) if isinstance(part, list) else part for part in given]
    axis, left = 0, a.ndim - sum([_axes(part) for part in parts if part is not ...])
    for part in parts:
        if part is ...:
            axis += left
            continue
        if getattr(part, "ndim", 0):
            _refuse_outside(part, axis, a.shape)
        axis += _axes(part)
    if not any(map(_is_small, given)):
        return index
    wide = [part.astype("int64") if _is_small(part) else part for part in given]
    return tuple(wide) if isinstance(index, tuple) else wide[0]


def _refuse_outside(numbers: Any, axis: int, shape: Any) -> None:
    """Raise IndexError for whole numbers beyond an axis; what is traced is not looked at."""
    if isinstance(numbers, jax.core.Tracer) or not axis < len(shape):
        return
    found, size = np.asarray(numbers), shape[axis]
    if found.size and found.dtype.kind in "iu":
        least, greatest = int(found.min()), int(found.max())
        if not -size <= least <= greatest < size:
            wrong = least if least < -size else greatest
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {size}")


def _axes(part: Any) -> int:
    """How many axes a part of an index is for: a mask has as many as it has itself."""
    return part.ndim if getattr(part, "dtype", None) == "bool" else int(part is not None)


def _is_small(part: Any) -> bool:
    return bool(getattr(part, "dtype", None) == "int8")


def _kinds() -> list[str]:
    """The kinds of devices: JAX's default one, and the CPU."""
    default = jax.default_backend()
    return [default] if default == "cpu" else [default, "cpu"]
