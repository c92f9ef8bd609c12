"""Gradients on their way between processes: packed into buffers, summed, and handed back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.arrays import backend
from core.arrays.backend import Device
from core.errors import CommunicatorError
from core.errors.set_by_init import NeedsInit

if TYPE_CHECKING:
    from core.link.parameter import Parameter
    from core.training.communicator import Communicator


NARROW = ("float16", "bfloat16")


class Pending:
    """A sum under way; this one has come to its end already."""

    def test(self) -> bool:
        """Let it go on; whether it has come to its end."""
        return True

    def wait(self) -> None:
        """Return when it has come to its end."""


def as_sixteen_bits(array: Any) -> bool:
    """Whether these are floats of 16 bits, which are added in float32."""
    return backend.of(array).dtype_name(array.dtype) in NARROW


class Bucket:
    """A buffer for the gradients of some parameters of one dtype, and one mark for each of them.

    The mark is 1 where a rank has a gradient, so that the sum says on how many there is one.
    """

    def __init__(self, dtype: str, place: Device) -> None:
        self.dtype = dtype
        self.place = place
        self.parameters: list[Parameter] = []
        self.size = 0
        self.buffer: Any = None
        self.waiting = 0  # parameters whose gradients have not been packed in this step
        self.pending: Pending | None = None

    def add(self, parameter: Parameter) -> None:
        """Make room for one more."""
        self.parameters.append(parameter)
        self.size += parameter.size

    def begin(self) -> None:
        """Take a buffer for a step."""
        if self.buffer is None:
            dtype = self.place.backend.dtype(self.dtype)
            self.buffer = self.place.xp.empty(self.size + len(self.parameters), dtype=dtype)
        self.waiting, self.pending = len(self.parameters), None


class Buckets(NeedsInit):
    """The gradients of a model, in buffers of about `bucket_bytes`, in a given order.

    All ranks have the same parameters in the same order; their sums begin in the order of the
    buffers, whatever the order in which the gradients come.

    Args:
        comm: The communicator, whose settings tell size and dtype of the buffers.
        parameters: Those that may have a gradient, in the order in which they are packed.
    """

    def __init__(self, comm: Communicator, parameters: Sequence[Parameter]) -> None:
        self.comm = comm
        self.buckets: list[Bucket] = []
        self._places: dict[int, tuple[Bucket, int, int]] = {}
        self._packed: set[int] = set()
        self._begun = 0
        travelling, most = comm.get_config("allreduce_grad_dtype"), comm.get_config("bucket_bytes")
        filling: dict[tuple[str, Device], Bucket] = {}
        for parameter in parameters:
            dtype = travelling or parameter.backend.dtype_name(parameter.array.dtype)
            kind = dtype, comm.place_of_buffers(parameter.device)
            bucket, width = filling.get(kind), backend.host().dtype(dtype).itemsize
            if bucket is None or bucket.size and (bucket.size + parameter.size) * width > most:
                bucket = filling[kind] = Bucket(*kind)
                self.buckets.append(bucket)
            self._places[id(parameter)] = (bucket, bucket.size, len(bucket.parameters))
            bucket.add(parameter)

    def begin(self) -> None:
        """Begin a step: nothing is packed yet."""
        self._begun = 0
        self._packed.clear()
        for bucket in self.buckets:
            bucket.begin()

    def pack(self, parameter: Parameter, grad: Any, weight: float) -> None:
        """Take the complete gradient of a parameter (None where it has none), times `weight`.

        A buffer that is full begins to be summed, once those before it have begun.
        """
        bucket, start, number = self._places[id(parameter)]
        self._packed.add(id(parameter))
        part = bucket.buffer[start : start + parameter.size].reshape(parameter.shape)
        bucket.buffer[bucket.size + number] = grad is not None
        if grad is None:
            part[...] = 0
        else:
            sent = bucket.place.send(grad)
            if weight == 1:
                part[...] = sent
            elif sent.dtype == part.dtype:
                bucket.place.xp.multiply(sent, sent.dtype.type(weight), out=part)
            else:
                part[...] = sent * sent.dtype.type(weight)
        bucket.waiting -= 1
        while self._begun < len(self.buckets) and not self.buckets[self._begun].waiting:
            full = self.buckets[self._begun]
            full.pending = self.comm.iallreduce(full.buffer)
            self._begun += 1
        for begun in self.buckets[: self._begun]:
            if begun.pending is not None:
                begun.pending.test()  # libraries go on only while they are called

    def pack_rest(self, weight: float) -> None:
        """Take the gradients that the parameters have, where none has been taken yet."""
        for parameter in [p for bucket in self.buckets for p in bucket.parameters]:
            if id(parameter) not in self._packed:
                self.pack(parameter, parameter.grad, weight)

    def unpack(self, everywhere: int | None = None) -> None:
        """Wait for the sums, and give each parameter its own as its gradient.

        One that has a gradient on no rank gets None. With `everywhere`, the number of ranks that
        have to have one, fewer are an error, which leaves the gradients as they were.
        """
        for bucket in self.buckets:
            if bucket.pending is not None:
                bucket.pending.wait()
                bucket.pending = None
        marks = [backend.to_host(each.buffer[each.size :]).tolist() for each in self.buckets]
        for bucket, found in zip(self.buckets, marks, strict=True):
            for parameter, count in zip(bucket.parameters, found, strict=True):
                if everywhere is not None and 0 < count < everywhere:
                    raise CommunicatorError(
                        f"mean of gradients: {parameter.name or 'a parameter'} of shape "
                        f"{parameter.shape} has a gradient on {count:.0f} of {everywhere} ranks. "
                        "With zero_fill=True it counts as zeros on the others."
                    )
        for bucket, found in zip(self.buckets, marks, strict=True):
            for parameter, count in zip(bucket.parameters, found, strict=True):
                parameter.grad = self._sum(parameter) if count else None

    def _sum(self, parameter: Parameter) -> Any:
        """The sum for a parameter, an array of its own."""
        bucket, start, _ = self._places[id(parameter)]
        part = bucket.buffer[start : start + parameter.size].reshape(parameter.shape)
        return parameter.device.send(part.astype(parameter.array.dtype))

    def allreduce(self, weight: float, everywhere: int | None = None) -> None:
        """Replace the gradients that the parameters have by their weighted sums over all ranks."""
        self.begin()
        self.pack_rest(weight)
        self.unpack(everywhere)
