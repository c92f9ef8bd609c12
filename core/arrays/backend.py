"""Which backend an array belongs to, which one makes new arrays, and how arrays move between them.

    BACKENDS[type(array)]        the backend of an array: one dictionary look-up
    of(a, b)                     the same for several arrays or Variables, which must not be mixed
    use('cuda'), using('numpy')  choose where new arrays are made; dispatch always follows the data

Backends are plugins. One is loaded when its name is asked for, or when an array of its library
turns up; a library that nobody has imported is never imported here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, SupportsIndex, TypeAlias

from core.arrays import random_streams
from core.arrays.array_backend import Backend
from core.arrays.device import Device, default_device, share_default
from core.arrays.kernel_table import Kernel, KernelTable, on_kernels_changed
from core.arrays.mixed import Mixed16
from core.arrays.random_streams import HostRandom, Random, seed
from core.errors import BackendError, BackendUnavailable, CheckpointError, CoreError, nearest
from core.registry.once import publishing
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
    "Kernel",
    "KernelTable",
    "Random",
    "available",
    "copyto",
    "current",
    "get",
    "get_array_module",
    "get_device",
    "get_device_from_array",
    "get_dtype",
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

DeviceSpec: TypeAlias = str | SupportsIndex | Backend | Device
"""What `get_device` takes."""

__dir__ = listing(__name__)

_made: dict[str, Backend] = {}
_registered: dict[str, Backend] = {}  # replaced by every change


class _ByType(dict[type, Backend]):
    """Array type -> backend; a type not met before is looked for among the backends, once."""

    def __missing__(self, kind: type) -> Backend:
        before = _registered
        backend = _backend_of_type(kind)
        if backend is None:
            raise BackendError(_not_an_array(kind))
        with publishing:
            if _registered is before:
                self[kind] = backend
        return backend


BACKENDS = _ByType()


def _backend_of_type(kind: type) -> Backend | None:
    """The backend whose arrays have just this type, else the one whose type it derives from."""
    found = [b for b in _candidates() if issubclass(kind, b.array_type)]
    return min(found, key=lambda b: kind.__mro__.index(b.array_type), default=None)


def _candidates() -> list[Backend]:
    """Backends whose arrays can exist: those registered, and those whose library is imported."""
    imported = [
        name
        for name in _catalogue().names()
        if name not in _registered and _broken(name) is None and _class(name).library in sys.modules
    ]
    return [*_registered.values(), *map(_make, imported)]


def _broken(name: str) -> str | None:
    """Why the class of a backend cannot be had: its plugin fails, or two claim the name."""
    try:
        _class(name)
    except CoreError as error:
        return str(error)
    return None


def _not_an_array(kind: type) -> str:
    if kind is type(None):
        return "Expected an array, got None (a parameter has none until its shape is known)."
    return (
        f"Expected an array of one of the backends {', '.join(names())}; "
        f"got a {kind.__module__}.{kind.__qualname__}. "
        "Make an array of it first, with core.backend.current().asarray(...)." + _absent()
    )


def _catalogue() -> Any:
    from core import registry

    return registry.catalogue("backends")


def _absent() -> str:
    from core import registry

    return registry.absent()


def _class(name: str) -> type[Backend]:
    found: type[Backend] = _catalogue().get(name)
    return found


def _make(name: str) -> Backend:
    """The one instance of a bundled or installed backend; it imports its library here."""
    from core import registry

    found = _made.get(name)
    if found is None:
        made = _class(name)()
        found = _made.setdefault(name, made)
        if found is made:
            registry.current.listen(made.refresh_kernels)
    return found


def names() -> list[str]:
    """The names of all backends that are registered, whether they can run here or not.

    >>> 'numpy' in names()
    True
    """
    return sorted({*_registered, *_catalogue().names()})


def available() -> dict[str, str | None]:
    """Backend name -> None where it can be used here, else the reason why it cannot.

    >>> available()['numpy'] is None
    True
    """
    return {name: _reason(name) for name in names()}


def _reason(name: str) -> str | None:
    if name in _registered:
        return _registered[name].unavailable()
    return _broken(name) or _class(name).unavailable()


def get(name: str) -> Backend:
    """The backend called `name`.

    Raises BackendError for an unknown name, BackendUnavailable, with the reason and what can be
    used instead, for one that cannot run here.

    >>> get('numpy').name
    'numpy'
    """
    found = _registered.get(name) or _made.get(name)
    if found is not None:
        return found
    if name not in names():
        raise BackendError(
            f"No backend is called {name!r}; known here: {', '.join(names())}."
            + nearest(name, names())
            + _absent()
        )
    reason = _reason(name)
    if reason is not None:
        usable = [other for other, why in available().items() if why is None]
        raise BackendUnavailable(
            f"Backend {name!r} cannot be used here: {reason} Available: {', '.join(usable)}."
        )
    return _make(name)


def register(backend: Backend) -> Backend:
    """Add a backend object at run time, under its name; meant for tests and notebooks.

    A distribution offers its backend by the hook `register_backends` instead.
    """
    global _registered
    with publishing:
        _registered = {**_registered, backend.name: backend}
        BACKENDS.clear()
    return backend


def unregister(backend: Backend) -> None:
    """Forget what `register` added."""
    global _registered
    with publishing:
        _registered = {name: known for name, known in _registered.items() if known is not backend}
        BACKENDS.clear()


def _unwrap(x: Any) -> Any:
    """The array of a Variable; anything else as it is."""
    return getattr(x, "array", x)


def of(*arrays: Any) -> Backend:
    """The backend that all the arrays (or Variables) belong to; the current one for no array.

    Raises BackendError where one is not an array, or where backends or devices are mixed.

    >>> import numpy as np
    >>> of(np.ones(3), np.zeros(2))
    <backend 'numpy'>
    """
    if not arrays:
        return current()
    first = _unwrap(arrays[0])
    backend = BACKENDS[type(first)]
    for x in arrays[1:]:
        _refuse_mixture(backend, first, _unwrap(x))
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
    """The device that new arrays are made on."""
    return default_device() or get_device(os.environ.get("PLUGRAD_BACKEND") or "numpy")


def use(spec: DeviceSpec) -> Backend:
    """Make `spec` (a name, `'cuda:1'`, a backend or a device) the place where new arrays are made.

    Holds for all threads, and until the next `use`; a `using` that is open wins while it lasts.
    Data that exists stays where it is, and is computed on there.
    """
    device = get_device(spec)
    share_default(device)
    return device.backend


@contextmanager
def using(spec: DeviceSpec) -> Iterator[Backend]:
    """A block in which new arrays are made by the backend (or on the device) that `spec` names.

    Holds for this thread, or this asynchronous task, alone.

    >>> with using('numpy') as backend:
    ...     current() is backend
    True
    """
    with get_device(spec) as device:
        yield device.backend


def using_device(spec: DeviceSpec) -> Device:
    """The device that `spec` names, for a `with` block in which new arrays are made on it."""
    return get_device(spec)


def get_dtype(dtype: Any = None, map_mixed16: Any = None) -> Any:
    """The current backend's dtype of a name; without one, that of `core.config.dtype`.

    Args:
        dtype: A name or dtype, or None.
        map_mixed16: What `core.mixed16` is to become; None leaves it as it is.

    >>> get_dtype()
    dtype('float32')
    """
    from core.registry.configuration import config

    dtype = config.dtype if dtype is None else dtype
    if isinstance(dtype, Mixed16):
        if map_mixed16 is None:
            return dtype
        dtype = map_mixed16
    return current().dtype(dtype)


# -- devices and copies -----------------------------------------------------------------------


def get_device(spec: DeviceSpec) -> Device:
    """The device that a name means: `'numpy'`, `'cuda'`, `'cuda:1'`, a backend, a device.

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
    if isinstance(spec, str):
        if spec.removeprefix("-").isdecimal():
            return get_device(int(spec))
        name, colon, ordinal = spec.replace("@cupy", "cuda").removeprefix("@").partition(":")
        return _numbered(spec, name, ordinal) if colon else get(name).default_device()
    if hasattr(spec, "__index__") and not isinstance(spec, bool):
        number = spec.__index__()
        return get("cuda").as_device(number) if number >= 0 else get("numpy").default_device()
    raise BackendError(
        f"get_device: expected a name such as 'numpy' or 'cuda:1', a backend or a device; "
        f"got {spec!r}."
    )


def _numbered(spec: str, name: str, number: str) -> Device:
    if not number.isdecimal():
        raise BackendError(
            f"get_device: expected a name such as 'numpy' or 'cuda:1'; got {spec!r}."
        )
    return get(name).as_device(int(number))


def to_host(x: Any) -> Any:
    """The values of an array or a Variable as a `numpy.ndarray`.

    >>> import numpy as np
    >>> to_host(np.arange(3))
    array([0, 1, 2])
    """
    array = _unwrap(x)
    return BACKENDS[type(array)].to_host(array)


def to_backend(x: Any, target: Any) -> Array:
    """The array (of any backend; a Variable gives its array) where `target` says.

    `target` is what `get_device` takes. An array that is there already is returned itself; where
    only a backend is named, any of its devices will do.
    """
    array = _unwrap(x)
    source = BACKENDS[type(array)]
    if target is source or target == source.name:
        return array
    device = get_device(target)
    if device.backend is source:
        return source.to_device(array, device)
    return device.backend.asarray(source.to_host(array), device=device)


def get_device_from_array(*arrays: Any) -> Device:
    """The device of the first argument that is an array or a Variable; the host for none.

    >>> import numpy as np
    >>> get_device_from_array(None, np.ones(3))
    <device numpy>
    """
    for array in map(_unwrap, arrays):
        backend = _backend_of_type(type(array))
        if backend is not None:
            return backend.device_of(array)
    return get("numpy").default_device()


def get_array_module(*args: Any) -> Any:
    """The array library, as a namespace, of the first argument that is an array or a Variable.

    Of several the one that is not NumPy's decides; NumPy where nothing is an array.

    >>> import numpy as np
    >>> get_array_module(np.ones(3)) is np
    True
    """
    found = [b for x in args if (b := _backend_of_type(type(_unwrap(x)))) is not None]
    return next((b.xp for b in found if b.name != "numpy"), get("numpy").xp)


def copyto(dst: Any, src: Any) -> None:
    """Copy the values of `src` into `dst`, arrays or Variables, also from one device to another.

    >>> import numpy as np
    >>> x = np.zeros(3)
    >>> copyto(x, np.arange(3))
    >>> x
    array([0., 1., 2.])
    """
    target = _unwrap(dst)
    BACKENDS[type(target)].copyto(target, _unwrap(src))


# -- the state of all random numbers ----------------------------------------------------------


def random_state() -> dict[str, Any]:
    """All state that random numbers depend on, as plain values that JSON can write.

    The stream of `core.seed`, the generators of the backends in use (NumPy's global one included)
    and Python's own.
    """
    import random

    stream = random_streams.stream()
    version, words, gauss = random.getstate()
    return {
        "stream": None if stream is None else stream.get_state(),
        "python": [version, list(words), gauss],
        "backends": {b.name: s for b in _backends_in_use() if (s := b.random.get_state())},
    }


def set_random_state(state: dict[str, Any]) -> None:
    """Put back what `random_state` gave, so that the same numbers follow.

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
        if name in names() and _reason(name) is None:
            get(name).random.set_state(own)
    random_streams.set_stream_state(state["stream"])


def _backends_in_use() -> list[Backend]:
    return [get("numpy"), *(b for b in (_made | _registered).values() if b.name != "numpy")]
