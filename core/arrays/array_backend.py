"""What an array backend is: a namespace of the array API standard, and a small object around it.

Its arrays live on devices, one of which may be open or shared as the place of new arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any, NamedTuple

from core.arrays.fallbacks import Fallbacks
from core.arrays.random_streams import Random
from core.errors import BackendError
from core.errors.dtypes import no_dtype
from core.errors.scalars import is_number, python_number
from core.registry import backends
from core.registry.backends import Backends
from core.registry.kernel_table import KernelTable
from core.registry.once import once
from core.typing import AnyArray

Computing = Callable[..., tuple[AnyArray, ...]]


class _Open(NamedTuple):
    """One open `with device:` block, and the one around it."""

    device: Device
    native: AbstractContextManager[Any]
    around: _Open | None


_innermost: ContextVar[_Open | None] = ContextVar("plugrad_device", default=None)
_shared: list[Device | None] = [None]


def default_device() -> Device | None:
    """The device of the innermost open block, else the one that `core.use` named, else None."""
    block = _innermost.get()
    return _shared[0] if block is None else block.device


def share_default(device: Device | None) -> None:
    """Make `device` the default of every thread that has no block open; None takes it back."""
    _shared[0] = device


class Device:
    """One device of one backend; equal to another of the same backend and id.

    `id` is None for a backend that has a single place for its arrays, as NumPy, a number, or a word
    of the library's own. A device is written `numpy`, `cuda:1` or `torch:mps`, and `with device:`
    makes it the default for new arrays.
    """

    __slots__ = ("backend", "id")

    def __init__(self, backend: Backend, id: int | str | None = None) -> None:
        self.backend = backend
        self.id: Any = id

    @property
    def name(self) -> str:
        """How the device is written: `numpy`, `cuda:1`."""
        return str(self)

    def is_array_supported(self, array: Any) -> bool:
        """Whether `array` lives on this device."""
        return isinstance(array, self.backend.array_type) and self.backend.device_of(array) == self

    def send(self, array: Any) -> Any:
        """The array (of any backend, or a Variable's) on this device, copied if it is elsewhere."""
        source = BACKENDS[type(array := unwrapped(array))]
        if source is self.backend:
            return source.to_device(array, self)
        made = self.backend.asarray(host := source.to_host(array), device=self)
        return self.backend.copy(made) if made is host else made  # which may be the source's memory

    def use(self) -> None:
        """Make this the device of new arrays, as `core.use` does."""
        share_default(self)

    @property
    def xp(self) -> Any:
        """The namespace of the device's backend."""
        return self.backend.xp

    def __enter__(self) -> Device:
        native = self.backend.entered(self)
        native.__enter__()
        _innermost.set(_Open(self, native, _innermost.get()))
        return self

    def __exit__(self, *error: Any) -> None:
        block = _innermost.get()
        if block is not None:
            _innermost.set(block.around)
            block.native.__exit__(*error)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return self.backend is other.backend and self.id == other.id

    def __hash__(self) -> int:
        return hash((self.backend.name, self.id))

    def __str__(self) -> str:
        return self.backend.name if self.id is None else f"{self.backend.name}:{self.id}"

    def __repr__(self) -> str:
        return f"<device {self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.backend.as_device, (self.id,)


def _kernels(section: str) -> once[KernelTable]:
    """The table of the kernels of a backend in a section of `register_kernels`."""
    return once(lambda backend: KernelTable(backend.name, section, backend._kernels_changed))


class Backend(Fallbacks, ABC):
    """One array library as the framework sees it.

    A backend states the five attributes below and implements the three abstract methods. All else
    has a default written in the standard's own words, to be overridden where a library does better;
    an override may be faster, never different.

    `name` is what people type (`core.use(name)`), `library` the top-level module whose presence in
    `sys.modules` means that arrays of this backend can exist, `xp` the namespace that ops compute
    with, `array_type` the type of its arrays (subclasses included, unless they are `unlike` it),
    `random` a `Random`.
    `on_gpu` says which of two methods of an object is for its arrays, `..._gpu` or `..._cpu`;
    `names_devices` that the ids of its devices are words. An array of a library that is not
    `mutable` never changes: what writes gives another array, and callers keep what they are given.
    `taken`, where it is not None, is called
    with every array that a user brings, and gives the one to compute with, or refuses it. `stage`,
    where it is not None, makes a faster function of one that a captured step calls again and again:
    of arrays of the backend, always of the same shapes and dtypes, a tuple of others. It only
    computes: nothing is drawn, looked at or written.
    """

    name: str
    library: str
    array_type: type
    random: Random
    on_gpu: bool = False
    names_devices: bool = False
    mutable: bool = True
    taken: Callable[[AnyArray], AnyArray] | None = None
    stage: Callable[[Computing], Computing] | None = None

    # -- required ------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def unavailable(cls) -> str | None:
        """Why this backend cannot be used here and what would help; None where it can."""

    @abstractmethod
    def asarray(self, obj: Any, dtype: Any = None, device: Any = None) -> AnyArray:
        """An array of this backend from a host array, a sequence, a number or one of its own.

        `dtype` may be a name; `device` is a `Device`, an id, or None for the default one. An
        array that already is as asked is returned itself.
        """

    @abstractmethod
    def to_host(self, array: AnyArray) -> Any:
        """The values as a `numpy.ndarray` (shared with `array` where the library allows that)."""

    # -- what ops compute with -----------------------------------------------------------------

    @property
    def unlike(self) -> tuple[type, ...]:
        """Types of arrays that derive from `array_type` and whose operators mean something else."""
        return ()

    def ops_xp(self, shape: tuple[int, ...]) -> Any:
        """What formulas of ops compute with on such arrays: `xp`, or some functions done better."""
        return self.xp

    def limited_threads(self, number: int) -> AbstractContextManager[Any]:
        """A context in which the library itself takes at most so many threads of the host."""
        return nullcontext()

    kernels = _kernels("compute")
    """Class of an op -> `kernel(f, xp, *inputs)`, which may return NotImplemented."""

    gradient_kernels = _kernels("gradient")
    """Class of an op -> `kernel(f, g, needs_grad)`, a tuple of a gradient or None per input."""

    update_kernels = _kernels("update")
    """Class of an update rule -> a faster step of it."""

    update_all_kernels = _kernels("update_all")
    """Class of an update rule -> its steps for many parameters at once."""

    def fuser(self) -> Any:
        """What makes one loop of several equations of a program, a `core.programs.Fuser`, or None.

        A program that is `fused()` asks for it.
        """
        return None

    def refresh_kernels(self) -> None:
        """Read the tables anew, as when a plugin has been preferred or disabled."""
        for section in ("kernels", "gradient_kernels", "update_kernels", "update_all_kernels"):
            getattr(self, section).forget()
        self._kernels_changed()

    def _kernels_changed(self, key: str | None = None) -> None:
        for listener in on_kernels_changed:
            listener(self, key)

    # -- data types ----------------------------------------------------------------------------

    def dtype(self, name: Any) -> Any:
        """The library's own dtype object of a name; a dtype object is given back.

        Raises BackendError for a name that the library does not have.
        """
        if not isinstance(name, str):
            return name
        if name not in self._named_dtypes:
            raise no_dtype(
                name,
                self.dtypes(),
                f"backend {self.name!r} has {', '.join(self.dtypes())}, but no dtype",
            )
        return self._named_dtypes[name]

    @once
    def _named_dtypes(self) -> dict[str, Any]:
        return {name: getattr(self.xp, name) for name in self.dtypes() if hasattr(self.xp, name)}

    def dtype_name(self, dtype: Any) -> str:
        """The plain name of a dtype, `'float32'`."""
        return getattr(dtype, "__name__", None) or str(dtype).rpartition(".")[2]

    def kind(self, dtype: Any) -> str:
        """One letter: b(ool), i(nteger), u(nsigned), f(loat), c(omplex), V for anything else."""
        return next((letter for letter, word in _KINDS if self.xp.isdtype(dtype, word)), "V")

    def dtypes(self) -> tuple[str, ...]:
        """Names of the dtypes that arrays of this backend can have."""
        return tuple(self.xp.__array_namespace_info__().dtypes())

    # -- devices -------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        """Every device that arrays of this backend can live on, the default one first."""
        return [Device(self, i) for i in range(len(self._native_devices))]

    @once
    def _native_devices(self) -> list[Any]:
        return list(self.xp.__array_namespace_info__().devices())

    def device_of(self, array: AnyArray) -> Device:
        """The device an array lives on."""
        return Device(self, self._native_devices.index(array.device))

    def spec_device(self, array: AnyArray) -> Any:
        """Something cheap and hashable, equal for arrays on one device; None where all are."""
        return array.device

    def named(self, spec_device: Any) -> Device:
        """The device that `spec_device` stands for."""
        if spec_device is None or isinstance(spec_device, (int, str)):
            return Device(self, spec_device)
        return Device(self, self._native_devices.index(spec_device))

    def default_device(self) -> Device:
        """Where new arrays go: the active `using_device` if it is of this backend."""
        return self._chosen_device() or self.devices()[0]

    def _chosen_device(self) -> Device | None:
        chosen = default_device()
        return chosen if chosen is not None and chosen.backend is self else None

    def as_device(self, device: Any = None) -> Device:
        """A `Device` of this backend from a `Device`, an id, or None for the default one."""
        if device is None:
            return self.default_device()
        made = Device(self, device) if isinstance(device, (int, str)) else device
        if not isinstance(made, Device) or made.backend is not self or made not in self.devices():
            raise BackendError(
                f"device: backend {self.name!r} has no device {made!s}; it has "
                f"{', '.join(map(str, self.devices()))}."
            )
        return made

    def native_device(self, device: Any = None) -> Any:
        """What the library's own `device=` takes for a device of this backend."""
        id = self.as_device(device).id
        return self._native_devices[id if isinstance(id, int) else 0]

    def to_device(self, array: AnyArray, device: Any = None) -> AnyArray:
        """The array on another device of this backend; itself where it is there already."""
        target = self.as_device(device)
        if self.device_of(array) == target:
            return array
        return array.to_device(self.native_device(target))

    def entered(self, device: Device) -> AbstractContextManager[Any]:
        """A context in which the library itself takes `device` as current."""
        return nullcontext()

    def around(self, spec_device: Any) -> Callable[[], AbstractContextManager[Any]] | None:
        """What gives the context that operations on arrays of a device are computed in.

        None where any will do: the library finds out by itself where arrays are, or there is but
        one device.
        """
        return None

    def beside(self, array: AnyArray) -> AbstractContextManager[Any]:
        """A context in which what is computed with an array is computed where it is."""
        around = self.around(self.spec_device(array))
        return nullcontext() if around is None else around()

    def overflowing(self) -> AbstractContextManager[Any]:
        """A context in which overflow and NaN are no news: the library does not warn of them."""
        return nullcontext()

    def synchronize(self, device: Any = None) -> None:
        """Wait until everything asked of a device has been computed."""

    def stream(self, device: Any = None) -> AbstractContextManager[Any]:
        """A context whose work may overlap with other work of the device; nothing by default."""
        return nullcontext()

    def uploader(
        self, device: Any = None, stream: Any = None, compute_stream: Any = None
    ) -> Callable[[Sequence[Any]], list[AnyArray]]:
        """A function from host arrays to arrays on a device; it may overlap with other work.

        What the device computes with the arrays waits for them, the host does not. The library's
        own `stream` copies, for those who compute in `compute_stream`; by default nothing overlaps.
        """
        target = self.as_device(device)
        return lambda arrays: [self.asarray(array, device=target) for array in arrays]

    def memory_stats(self) -> dict[str, int]:
        """Bytes in use and held by the library, under names of its own; empty where unknown."""
        return {}

    def state(self) -> dict[str, Any]:
        """What a report should say of the library's threads and memory; nothing by default."""
        return {}

    def release_memory(self) -> None:
        """Give memory that the library keeps for later arrays, and nobody uses, back."""

    # -- copies --------------------------------------------------------------------------------

    def copy(self, array: AnyArray) -> AnyArray:
        """A new array with the same values, on the same device."""
        return self.xp.asarray(array, copy=True)

    def filled_like(self, array: AnyArray, number: float) -> AnyArray:
        """A new array like another, of one number, to be changed along with it."""
        return self.copyto(self.copy(array), number)

    def copyto(self, dst: AnyArray, src: Any) -> AnyArray:
        """Write `src` (a number, or an array of any backend that broadcasts) into `dst`; gives it.

        Where arrays are not mutable, gives a new array like `dst`.
        """
        src = self._to_device_of(dst, src)
        if not is_number(src):
            src = self.xp.broadcast_to(self.xp.astype(src, dst.dtype, copy=False), dst.shape)
            if not self.mutable:
                return src
        return self.put(dst, ..., src)

    def put(self, a: AnyArray, index: Any, value: Any) -> AnyArray:
        """`a[index] = value`, an index that names no place twice; gives `a`.

        Where arrays are not mutable, gives a new array; the default computes it by arithmetic.
        """
        if not self.mutable:
            from core.arrays.scatter import replaced

            return replaced(self.xp, a, index, value)
        a[index] = value
        return a

    def put_sum(self, a: AnyArray, index: Any, value: Any) -> AnyArray:
        """`a[index] += value`, an index that names no place twice; gives `a`, or a new array."""
        return self.put(a, index, self.add_in_place(a[index], value))

    def memory(self, array: AnyArray) -> int:
        """What tells arrays apart that share no memory, as far as the library knows."""
        while (base := getattr(array, "base", None)) is not None:
            array = base
        return id(array)

    def _to_device_of(self, dst: AnyArray, src: Any) -> Any:
        return python_number(src) if is_number(src) else self.device_of(dst).send(src)

    def add_in_place(self, a: AnyArray, b: AnyArray) -> AnyArray:
        """Add `b` into `a` and give `a` back, also when it has no dimensions; or a new array."""
        a += b
        return a

    def records(self, backend: Backend) -> bool:
        """Whether it records what `backend` is asked for, as in a trace of its arrays."""
        return False

    def writable(self, array: AnyArray) -> bool:
        """Whether each element may be written to: not where a broadcast shows one several times.

        Optimizers refuse a parameter of such an array, and gradients are given as copies of it.
        """
        axes = zip(array.shape, getattr(array, "strides", ()), strict=False)
        return 0 in array.shape or all([step or n < 2 for n, step in axes])

    def owns(self, array: AnyArray) -> bool:
        """Whether an array's memory is its own, and may be written to; False where unknown.

        What else shows that memory, a view of the array, has to hold a reference to it.
        """
        return False

    # -- the object itself ---------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<backend {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _called, (self.name,)


def _called(name: str) -> Backend:
    return known.get(name)


def unwrapped(x: Any) -> Any:
    """The array of a Variable; anything else as it is."""
    return getattr(x, "array", x)


known: Backends[Backend] = backends.known

BACKENDS = known.by_type

on_kernels_changed: list[Callable[[Backend, str | None], None]] = []
"""Called whenever a kernel table changes, with its backend and the key, or None for all of them.

The engine drops its plans of that class.
"""


_KINDS = (
    ("f", "real floating"),
    ("i", "signed integer"),
    ("b", "bool"),
    ("u", "unsigned integer"),
    ("c", "complex floating"),
)
