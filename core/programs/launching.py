"""Functions of arrays as launches of what a library has recorded of one call.

A recorded call reads and writes the memory that it was recorded with, as that of a CUDA graph
does. So arrays that lie elsewhere in a later call are copied into buffers of its own, and what it
gives is copied out, for the next launch overwrites it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from core.arrays.backend import Backend
from core.errors.place import warn


class Recorder(Protocol):
    """What records the calls of a library."""

    def record(self, call: Callable[[], None]) -> Callable[[], None]:
        """Record what `call()` asks of the device, and give what does it again.

        The call itself may compute or not, and may be made more than once. Raises what the library
        raises for what cannot be recorded.
        """

    def address(self, array: Any) -> Any:
        """What is equal for arrays that lie in the same memory, in the same way."""


def _unrecorded() -> None:
    """What is launched before anything has been recorded."""


class Launched:
    """A function of arrays, recorded in its second call and launched from then on.

    Args:
        function: Computes with arrays of the backend alone, always of the same shapes and dtypes,
            and looks at no value. It gives a tuple of arrays.
        backend: Whose arrays it takes.
        recorder: What records it.

    The first call is made as it is: whatever is compiled or allocated at first use is there
    afterwards. Arrays that lay elsewhere in the first call than in the second get buffers, others
    are taken to stay, as parameters do; one that does not gets a buffer then, and the call is
    recorded anew. Where the library refuses, calls are made as they are from then on; a warning and
    `reason` say why.
    """

    def __init__(
        self, function: Callable[..., tuple[Any, ...]], backend: Backend, recorder: Recorder
    ) -> None:
        self.reason: str | None = None
        self._function = function
        self._backend = backend
        self._recorder = recorder
        self._at: list[Any] | None = None
        self._arrays: list[Any] = []  # those that the recording reads
        self._moving: set[int] = set()
        self._results: tuple[Any, ...] = ()
        self._launch: Callable[[], None] = _unrecorded

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """What the function gives."""
        address, before = self._recorder.address, self._at
        if self.reason is not None or before is None:
            self._at = [address(array) for array in arrays]
            return self._function(*arrays)
        moved = {i for i, array in enumerate(arrays) if address(array) != before[i]}
        if self._launch is _unrecorded or not moved <= self._moving:
            self._moving |= moved
            try:
                self._record(arrays)
            except Exception as error:
                self._refuse(error)
                return self._function(*arrays)
        backend = self._backend
        for i in self._moving:
            backend.copyto(self._arrays[i], arrays[i])
        self._launch()
        return tuple([backend.copy(array) for array in self._results])

    def _record(self, arrays: tuple[Any, ...]) -> None:
        copy, address = self._backend.copy, self._recorder.address
        self._arrays = [copy(x) if i in self._moving else x for i, x in enumerate(arrays)]
        self._at = [address(array) for array in self._arrays]
        self._launch = self._recorder.record(self._call)

    def _call(self) -> None:
        self._results = self._function(*self._arrays)

    def _refuse(self, error: Exception) -> None:
        self.reason = f"{type(error).__name__}: {error}"
        self._arrays, self._results, self._launch = [], (), _unrecorded
        warn(
            f"core.capture: backend {self._backend.name} cannot record it ({self.reason}). Its "
            "operations are asked for one by one."
        )
