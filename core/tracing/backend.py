"""The backend of traced arrays: what an array library computes, recorded instead."""

from __future__ import annotations

from typing import Any

from core.arrays.array_backend import known
from core.arrays.backend import Backend, Device, Random, host, on_kernels_changed
from core.errors.scalars import is_number, python_number
from core.programs import Call
from core.tracing import tape as tapes
from core.tracing.array import TracedArray, apply, as_values
from core.tracing.namespace import NAMESPACE, Namespace


class TracingBackend(Backend):
    """Arrays of shape, dtype and device, without elements; see `core.trace`."""

    name = "tracing"
    library = __name__
    array_type = TracedArray
    xp = NAMESPACE

    def __init__(self) -> None:
        from core.tracing.kernels import Recorders, forward, gradient

        self.recorded = [host()]
        vars(self)["kernels"] = Recorders(self.recorded, "kernels", forward)
        vars(self)["gradient_kernels"] = Recorders(self.recorded, "gradient_kernels", gradient)
        self.random = TracedRandom()
        self._device = Device(self)

    @classmethod
    def unavailable(cls) -> str | None:
        """Nobody computes with it."""
        return "its arrays have no values; core.trace uses it."

    def record(self, backend: Backend) -> None:
        """Let the kernels of a backend be among those that programs call."""
        if backend not in self.recorded:
            self.recorded.append(backend)
            self._kernels_changed()

    def records(self, backend: Backend) -> bool:
        """Whether the trace that is under way is of arrays of that backend."""
        return tapes.under_way() and tapes.current().backend is backend

    def ops_xp(self, shape: tuple[int, ...]) -> Any:
        """The namespace, which remembers what operations on such arrays compute with."""
        return Namespace(of=shape)

    def asarray(self, obj: Any, dtype: Any = None, device: Any = None) -> Any:
        """A traced array; arrays from outside become constants of the trace."""
        return NAMESPACE.asarray(obj, dtype=dtype)

    def to_host(self, array: Any) -> Any:
        """Refused: there are no values."""
        return array._look()

    def dtype(self, name: Any) -> Any:
        """The host's dtype of a name."""
        return host().dtype(name)

    def dtype_name(self, dtype: Any) -> str:
        """The plain name of a dtype."""
        return host().dtype_name(dtype)

    def kind(self, dtype: Any) -> str:
        """The host's letter."""
        return host().kind(dtype)

    def dtypes(self) -> tuple[str, ...]:
        """Those of the host."""
        return host().dtypes()

    def devices(self) -> list[Device]:
        """The one device."""
        return [self._device]

    def device_of(self, array: Any) -> Device:
        """The one device."""
        return self._device

    def spec_device(self, array: Any) -> None:
        """None: all are in one place."""

    def native_device(self, device: Any = None) -> Any:
        """What the host's functions take."""
        return host().native_device()

    def to_device(self, array: Any, device: Any = None) -> Any:
        """The array itself."""
        self.as_device(device)
        return array

    def copy(self, array: Any) -> Any:
        """Another array of the same elements, as they lie."""
        return array.copy("K")

    def copyto(self, dst: Any, src: Any) -> Any:
        """Replace the elements of `dst`."""
        self._fit(dst, src)
        dst._change("copyto", python_number(src) if is_number(src) else src)
        return dst

    def _fit(self, dst: Any, src: Any) -> None:
        from core.ops.types.shapes import broadcast_shapes

        shape = tuple(getattr(src, "shape", ()))
        if broadcast_shapes([dst.shape, shape]) != dst.shape:
            raise ValueError(f"copyto: expected what broadcasts to {dst.shape}, got {shape}")

    def add_in_place(self, a: Any, b: Any) -> Any:
        """Add `b` into `a`."""
        a._change("add_in_place", b)
        return a

    def memory(self, array: Any) -> int:
        """What arrays have in common that share memory, or may, as the elements lie."""
        memory = array._memory
        return id(memory if memory.kin is None else memory.kin)

    def scatter_add(self, a: Any, index: Any, values: Any) -> Any:
        """Add `values` into places of `a`."""
        a._change("scatter_add", index, values)
        return a

    def windows(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """All windows of `x`."""
        return apply(Call("backend", "windows"), (x, *args), kwargs)

    def fold(self, windows: Any, *args: Any, **kwargs: Any) -> Any:
        """Sums of windows."""
        return apply(Call("backend", "fold"), (windows, *args), kwargs)

    def outside(self, numbers: Any, size: int) -> bool:
        """False; the program looks when it runs, and raises OutOfRange."""
        tape = tapes.current()
        told = str(tape.origin()) or "trace"
        tape.record(Call("change", "check_within"), (as_values(tape, numbers), size, told), {}, ())
        return False


class TracedRandom(Random):
    """Draws that a program makes anew whenever it runs."""

    def _drawn(self, name: str, *what: Any, device: Any) -> Any:
        made = apply(Call("random", name), what, {})
        made._memory.plain = True
        return made

    def _name(self, dtype: Any) -> Any:
        return dtype


def tracing_backend() -> Backend:
    """The one tracing backend."""
    return known.unnamed.get(TracedArray) or known.unnamed.setdefault(TracedArray, TracingBackend())


def _also_traced(backend: Backend, key: str | None) -> None:
    """Plan anew what is traced, where kernels that it records are others."""
    made: Any = known.unnamed.get(TracedArray)
    if made is not None and backend in made.recorded:
        made._kernels_changed(key)


on_kernels_changed.append(_also_traced)
