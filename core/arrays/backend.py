"""Backends in use: that of an array, that of new arrays, and moves between them.

    BACKENDS[type(array)]        the backend of an array: one dictionary look-up
    of(a, b)                     the same for several arrays or Variables, which must not be mixed
    use('cuda'), using('numpy')  choose where new arrays are made; dispatch always follows the data

Backends are plugins. One is loaded when its name is asked for, or when an array of its library
turns up; a library that nobody has imported is never imported here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, SupportsIndex, TypeAlias

from core.arrays import random_streams
from core.arrays.array_backend import (
    BACKENDS,
    Backend,
    Device,
    default_device,
    known,
    on_kernels_changed,
    share_default,
    unwrapped,
)
from core.arrays.mixed import Mixed16
from core.arrays.random_streams import Random, seed
from core.errors import BackendError, BackendUnavailable, CheckpointError
from core.errors.scalars import is_whole
from core.registry.backends import GPU, HOST
from core.registry.configuration import config
from core.registry.public import listing
from core.typing import AnyArray as Array

__all__ = [
    "BACKENDS",
    "Array",
    "Backend",
    "BackendError",
    "BackendUnavailable",
    "Device",
    "DeviceSpec",
    "HostRandom",
    "Random",
    "available",
    "copyto",
    "current",
    "get",
    "get_array_module",
    "get_device",
    "get_device_from_array",
    "get_dtype",
    "gpu",
    "host",
    "names",
    "of",
    "on_kernels_changed",
    "random_state",
    "register",
    "seed",
    "set_random_state",
    "to_backend",
    "to_host",
    "unregister",
    "use",
    "using",
    "using_device",
]

HostRandom = Random  # for backends that draw nothing themselves

DeviceSpec: TypeAlias = str | SupportsIndex | Backend | Device
"""What `get_device` takes."""

__dir__ = listing(__name__)

names = known.names
available = known.available
get = known.get
register = known.add
unregister = known.remove
host = known.host


def of(*arrays: Any) -> Backend:
    """Return the backend that all arrays (or Variables) belong to; the current one for none.

    Raises BackendError where one is not an array, or where backends or devices are mixed.

    >>> import numpy as np
    >>> of(np.ones(3), np.zeros(2))
    <backend 'numpy'>
    """
    if not arrays:
        return current()
    first = unwrapped(arrays[0])
    backend = BACKENDS[type(first)]
    for x in arrays[1:]:
        _refuse_mixture(backend, first, unwrapped(x))
    return backend


def _refuse_mixture(backend: Backend, first: Any, other: Any) -> None:
    theirs = BACKENDS[type(other)]
    if theirs is backend and backend.spec_device(first) == backend.spec_device(other):
        return
    here, there = backend.device_of(first), theirs.device_of(other)
    kinds = "devices" if theirs is backend else "backends"
    raise BackendError(
        f"Arrays of two {kinds} meet in one operation: {here} and {there}. "
        f"Move one of them first: to_device({str(here)!r}) or to_device({str(there)!r})."
    )


# -- where new arrays are made ----------------------------------------------------------------


def current() -> Backend:
    """The backend that makes new arrays: of the innermost `using`, else of `use`, else of the
    environment variable PLUGRAD_BACKEND, else NumPy.
    """
    return current_device().backend


def current_device() -> Device:
    """Return the device of new arrays."""
    return default_device() or get_device(os.environ.get("PLUGRAD_BACKEND") or HOST)


def use(spec: DeviceSpec) -> Backend:
    """Make new arrays on `spec` from now on: a name such as `'cuda:1'`, a backend or a device.

    Holds for all threads, and until the next `use`; a `using` that is open wins while it lasts.
    Data that exists stays where it is, and is computed on there.
    """
    device = get_device(spec)
    share_default(device)
    return device.backend


@contextmanager
def using(spec: DeviceSpec) -> Iterator[Backend]:
    """Make new arrays by the backend (or on the device) `spec` within a `with` block.

    Holds for this thread, or this asynchronous task, alone.

    >>> with using('numpy') as backend:
    ...     current() is backend
    True
    """
    with get_device(spec) as device:
        yield device.backend


def using_device(spec: DeviceSpec) -> Device:
    """Return the device `spec`, for a `with` block in which new arrays are made on it."""
    return get_device(spec)


def get_dtype(dtype: Any = None, map_mixed16: Any = None) -> Any:
    """Return the current backend's dtype of a name; by default that of `core.config.dtype`.

    Args:
        dtype: A name or dtype, or None.
        map_mixed16: What `core.mixed16` is to become; None leaves it as it is.

    >>> get_dtype()
    dtype('float32')
    """
    dtype = config.dtype if dtype is None else dtype
    if isinstance(dtype, Mixed16):
        if map_mixed16 is None:
            return dtype
        dtype = map_mixed16
    return current().dtype(dtype)


# -- devices and copies -----------------------------------------------------------------------


def get_device(spec: DeviceSpec) -> Device:
    """Return the device for a name: `'numpy'`, `'cuda'`, `'cuda:1'`, or a backend or device.

    A backend that has words for its devices takes these after its own name: `'torch:cuda:0'`.

    An integer, also written as a string, is the number of a GPU, and a negative one the host, as in
    training scripts; so are `'@numpy'` and `'@cupy:1'`.

    >>> get_device('numpy')
    <device numpy>
    >>> get_device('-1') == get_device('@numpy') == get_device(-1)
    True
    """
    if isinstance(spec, Device):
        return spec
    if isinstance(spec, Backend):
        return spec.default_device()
    if isinstance(spec, str) and not spec.removeprefix("-").isdecimal():
        name, colon, word = spec.replace("@cupy", GPU).removeprefix("@").partition(":")
        backend = get(name)
        if not colon:
            return backend.default_device()
        if word.isdecimal() or backend.names_devices:
            return backend.as_device(int(word) if word.isdecimal() else word)
    elif isinstance(spec, str) or (is_whole(spec) and not isinstance(spec, bool)):
        number = int(spec)
        return gpu(number) if number >= 0 else host().default_device()
    raise BackendError(
        f"get_device: expected a name such as 'numpy' or 'cuda:1', a backend or a device; "
        f"got {spec!r}."
    )


def gpu(number: SupportsIndex | None = None) -> Device:
    """The GPU of this number; None for the current one."""
    backend = get(GPU)
    return backend.default_device() if number is None else backend.as_device(number.__index__())


def to_host(x: Any) -> Any:
    """Return the values of an array or a Variable as a `numpy.ndarray`.

    >>> import numpy as np
    >>> to_host(np.arange(3))
    array([0, 1, 2])
    """
    array = unwrapped(x)
    return BACKENDS[type(array)].to_host(array)


def to_backend(x: Any, target: Any) -> Array:
    """The array (of any backend; a Variable gives its array) where `target` says.

    `target` is what `get_device` takes. An array that is there already is returned itself; where
    only a backend is named, any of its devices will do.
    """
    array = unwrapped(x)
    source = BACKENDS[type(array)]
    if target is source or target == source.name:
        return array
    return get_device(target).send(array)


def get_device_from_array(*arrays: Any) -> Device:
    """Return the device of the first argument that is an array or a Variable, or the host.

    >>> import numpy as np
    >>> get_device_from_array(None, np.ones(3))
    <device numpy>
    """
    for array in map(unwrapped, arrays):
        backend = known.of_type(type(array))
        if backend is not None:
            return backend.device_of(array)
    return host().default_device()


def get_array_module(*args: Any) -> Any:
    """Return the namespace of the first argument that is an array or a Variable.

    Of several the one that is not NumPy's decides; NumPy where nothing is an array.

    >>> import numpy as np
    >>> get_array_module(np.ones(3)) is np
    True
    """
    found = [b for x in args if (b := known.of_type(type(unwrapped(x)))) is not None]
    return next((b.xp for b in found if b is not host()), host().xp)


def copyto(dst: Any, src: Any) -> None:
    """Copy the values of `src` into `dst`, arrays or Variables, also between devices.

    >>> import numpy as np
    >>> x = np.zeros(3)
    >>> copyto(x, np.arange(3))
    >>> x
    array([0., 1., 2.])
    """
    target = unwrapped(dst)
    backend = BACKENDS[type(target)]
    if backend.mutable:
        backend.copyto(target, unwrapped(src))
    elif dst is target:
        raise BackendError(
            f"copyto: an array of {backend.name!r} cannot be changed. Give a Variable, which takes "
            "another array."
        )
    else:
        dst.array = backend.copyto(target, unwrapped(src))


# -- the state of all random numbers ----------------------------------------------------------


def random_state() -> dict[str, Any]:
    """Return all state that random numbers depend on, as plain values that JSON can write.

    The stream of `core.seed`, the generators of the backends in use (NumPy's global one included)
    and Python's own.
    """
    import random

    stream = random_streams.stream()
    version, words, gauss = random.getstate()
    return {
        "stream": None if stream is None else stream.get_state(),
        "python": [version, list(words), gauss],
        "backends": {b.name: s for b in known.in_use() if (s := b.random.get_state())},
    }


def set_random_state(state: dict[str, Any]) -> None:
    """Restore what `random_state` returned, so that the same numbers follow.

    The generator of a backend that cannot be used here, where the state comes from another machine,
    is passed over: nothing can be drawn from it.
    Raises CheckpointError, and changes nothing, where it is not such a state.
    """
    if not isinstance(state, dict) or not {"stream", "python", "backends"} <= state.keys():
        raise CheckpointError(
            "set_random_state: expected what core.backend.random_state() gives, "
            "a dict with 'stream', 'python' and 'backends'."
        )
    before = random_state()
    try:
        _apply_random_state(state)
    except (AttributeError, KeyError, TypeError, ValueError, BackendUnavailable) as error:
        _apply_random_state(before)
        raise CheckpointError(f"set_random_state: the random state is damaged: {error}") from error


def _apply_random_state(state: dict[str, Any]) -> None:
    import random

    version, words, gauss = state["python"]
    random.setstate((version, tuple(words), gauss))
    for name, own in state["backends"].items():
        if name in names() and known.reason(name) is None:
            get(name).random.set_state(own)
    random_streams.set_stream_state(state["stream"])
