"""Random numbers that are drawn on the GPU, from counters."""

from __future__ import annotations

from typing import Any

from backends.cuda_backend.kernels import philox
from backends.cuda_backend.kernels.source import Source
from backends.cuda_backend.kernels.words import STORED
from backends.cuda_backend.scatter import in_order
from core.arrays.backend import Backend, Random, host
from core.arrays.random_streams import Stream
from core.errors import CheckpointError
from core.errors.scalars import is_whole


class CudaRandom(Random):
    """Draws by Philox on the device itself; nothing is copied, and nobody waits.

    The stream of `core.seed` says which numbers come, as on the host; while none is installed,
    NumPy's global generator does, by 16 bytes for each draw. A device that has been given a `seed`
    of its own has a stream of its own, whatever the others draw meanwhile.
    """

    def __init__(self, backend: Backend, library: Any, kernels: Any) -> None:
        super().__init__(backend)
        self._library = library
        self._kernels = kernels
        self._streams: dict[int, Stream] = {}  # of devices that have one

    def seed(self, n: int | None, device: Any = None) -> None:
        """Let one device draw from a stream of its own; None takes it away."""
        number = self._backend.as_device(device).id or 0
        if n is None:
            self._streams.pop(number, None)
            return
        if isinstance(n, bool) or not is_whole(n):
            raise TypeError(f"seed: expected an integer or None, got {n!r}.")
        self._streams[number] = Stream(n.__index__())

    def next_key(self, device: Any = None) -> int:
        """128 bits for a draw on a device: the seed below, the number of the draw above."""
        own = self._streams.get(self._backend.as_device(device).id or 0)
        if own is not None:
            return own.next_key()
        drawn: Any = host().random
        return int(drawn.next_key())

    def _filled(self, source: Source, shape: Any, dtype: str, device: Any, *more: Any) -> Any:
        target = self._backend.as_device(device)
        shape = (shape,) if is_whole(shape) else tuple(shape)
        key = philox.words_of(self.next_key(target))
        with self._backend.entered(target):
            y = self._library.empty(shape, dtype=self._backend.dtype(dtype))
            if y.size:
                launch = self._kernels.ready(source)
                block = philox.THREADS, 1
                launch(philox.grid(source, y.size), block, (y, y.size, *key, *more))
        return y

    def normal(self, shape: Any = (), dtype: Any = "float32", *, device: Any = None) -> Any:
        """Standard normal draws."""
        name = self._name(dtype)
        return self._filled(philox.normal(name), shape, name, device)

    def uniform(
        self,
        shape: Any = (),
        dtype: Any = "float32",
        low: float = 0.0,
        high: float = 1.0,
        *,
        device: Any = None,
    ) -> Any:
        """Draws from [low, high)."""
        name = self._name(dtype)
        one = self._backend.dtype(name).type
        last = host().xp.nextafter(one(high), one(low))
        numbers = float(low), float(high) - float(low), float(last)
        return self._filled(philox.uniform(name), shape, name, device, *numbers)

    def bernoulli(self, p: float, shape: Any = (), *, device: Any = None) -> Any:
        """Booleans, True with probability `p`."""
        dropped = philox.dropped(p)
        return self._filled(philox.bernoulli(), shape, "bool", device, dropped)

    def dropout(self, x: Any, ratio: float) -> tuple[Any, Any] | None:
        """A mask of 0 and 1 / (1 - ratio), as of `bernoulli`, and x times it.

        None where no kernel knows the dtype.
        """
        name = self._backend.dtype_name(x.dtype)
        if name not in STORED or "float" not in name:
            return None
        target = self._backend.device_of(x)
        key = philox.words_of(self.next_key(target))
        one = x.dtype.type
        scale = float(one(1) / one(1 - ratio))
        with self._backend.entered(target):
            x = self._library.ascontiguousarray(x)
            mask, y = (self._library.empty(x.shape, dtype=x.dtype) for _ in range(2))
            if x.size:
                source = philox.dropout(name)
                args = (mask, y, x, x.size, *key, philox.dropped(1 - ratio), scale)
                block = philox.THREADS, 1
                self._kernels.ready(source)(philox.grid(source, x.size), block, args)
        return mask, y

    def permutation(self, n: int, *, device: Any = None) -> Any:
        """The integers 0 to n-1 in random order."""
        drawn = self._filled(philox.integers(), n, "int64", device, -(1 << 63), (1 << 63) - 1)
        with self._backend.entered(self._backend.as_device(device)):
            return in_order(self._library, self._kernels, drawn)[1] if n else drawn

    def integers(self, low: int, high: int, shape: Any = (), *, device: Any = None) -> Any:
        """Integers from `low` to `high` - 1, each as likely within `high - low` in 2^64."""
        if low >= high:
            raise ValueError(f"integers: expected low < high, got {low} and {high}.")
        if low < -(1 << 63) or high > 1 << 63:
            raise ValueError(f"integers: expected bounds of int64, got {low} and {high}.")
        bits = (high - low + (1 << 63)) % (1 << 64) - (1 << 63)
        return self._filled(philox.integers(), shape, "int64", device, low, bits)

    def get_state(self) -> dict[str, Any]:
        """The streams of the devices that have their own."""
        return {str(number): stream.get_state() for number, stream in self._streams.items()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Put back what `get_state` gave.

        Raises CheckpointError where the state is of another kind of generator.
        """
        try:
            self._streams = {
                int(number): Stream(int(own["seed"]), int(own["draws"]))
                for number, own in state.items()
            }
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"random state: this does not fit the streams of GPUs: {error!r}."
            ) from None
