"""Gradients on their way between processes: packed into buffers, summed, and handed back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.arrays import backend
from core.arrays.backend import Device
from core.arrays.spec import spec_of
from core.errors import CommunicatorError
from core.errors.set_by_init import NeedsInit
from core.graph.accumulate import adds_in_place
from core.training.collectives import Collectives
from core.training.sums import Pending

if TYPE_CHECKING:
    from core.link.parameter import Parameter


UNDER_WAY = 2
"""Buffers at once, where memory is to be saved: further ones wait for those before them."""


class Slot:
    """The place of a parameter's gradient in the buffer of a bucket."""

    __slots__ = (
        "bucket",
        "grad",
        "is_here",
        "is_packed",
        "mark",
        "parameter",
        "shape",
        "spec",
        "start",
        "stop",
    )

    def __init__(self, bucket: Bucket, parameter: Parameter) -> None:
        self.bucket, self.parameter, self.shape = bucket, parameter, parameter.shape
        self.start = self.stop = 0  # of the sum, in what this rank gets of it
        self.is_here = True  # whether this rank gets it
        self.spec: Any = None  # of what this rank gets
        self.grad: Any = None  # until the buffer is made
        self.mark = 0.0  # 1 where this rank has a gradient
        self.is_packed = False


class Bucket:
    """A buffer for the gradients of some parameters of one dtype.

    Where parameters have owners, those of each owner lie side by side: from `bounds[rank]` to
    `bounds[rank + 1]`.
    """

    def __init__(self, dtype: str, place: Device) -> None:
        self.dtype = dtype
        self.width = backend.host().dtype(dtype).itemsize
        self.place = place
        self.parameters: list[Parameter] = []
        self.slots: list[Slot] = []  # in the order in which they lie in the buffer
        self.bounds: list[int] = []
        self.size = 0
        self.buffer: Any = None
        self.weight = 1.0  # of what is in the buffer, by which it is multiplied as it is summed
        self.waiting = 0  # parameters whose gradients have not been packed in this step
        self.pending: Pending | None = None

    def add(self, parameter: Parameter) -> None:
        """Make room for one more."""
        self.parameters.append(parameter)
        self.size += parameter.size

    def lay_out(self, owners: Mapping[int, int] | None, rank: int, ranks: int) -> list[Slot]:
        """The places of the parameters; where the part of each rank begins and ends."""
        end, self.bounds, self.slots = 0, [0], []
        for owner in range(1 if owners is None else ranks):
            first = 0 if owners is None else end
            for parameter in self.parameters:
                if owners is None or owners[id(parameter)] == owner:
                    slot = Slot(self, parameter)
                    slot.start, slot.stop = end - first, end - first + parameter.size
                    slot.is_here = owners is None or owner == rank
                    end += parameter.size
                    self.slots.append(slot)
            self.bounds.append(end)
        return self.slots

    def begin(self, weight: float) -> None:
        """Begin a step."""
        self.buffer = self.pending = None
        self.weight = weight
        self.waiting = len(self.parameters)

    def fill(self, weight: float) -> None:
        """Make the buffer of this step, with the gradients, times `weight`, side by side."""
        if self.buffer is None:
            self.buffer = self.place.xp.concat([self._flat(slot, weight) for slot in self.slots])

    def _flat(self, slot: Slot, weight: float) -> Any:
        grad, slot.grad = slot.grad, None
        if grad is not None and weight == 1 and spec_of(grad) is slot.spec:
            return grad.reshape(-1)
        its = self.place.backend
        if grad is None:
            return self.place.xp.zeros(slot.parameter.size, dtype=its.dtype(self.dtype))
        sent = self.place.send(grad)
        part = sent if weight == 1 else sent * sent.dtype.type(weight)
        return its.asarray(part, self.dtype, self.place).reshape(-1)

    def take(self, parameter: Parameter) -> bool:
        """Let the gradient of the only parameter be the buffer, if nobody else has it."""
        if self.place != parameter.device:
            return False
        source, spec = parameter._source, spec_of(parameter.grad)
        if spec is None or spec.name != self.dtype:
            return False
        if source is None or not adds_in_place(source):
            return False
        flat = source._grad.reshape(-1)
        if getattr(flat, "base", None) is not source._grad:
            return False
        self.buffer = flat
        return True


class Buckets(NeedsInit):
    """The gradients of a model, in buffers of about `bucket_bytes`, in a given order.

    All ranks have the same parameters in the same order; their sums begin in the order in which
    buffers are full, which is the same on all. Each step has new buffers, and the gradients that
    parameters get lie in them. A gradient of `comm.lone_bytes` and more has a buffer to itself, and
    where nobody else holds it, it is that buffer. Beside them travels a mark for each parameter, 1
    where a rank has a gradient, so that their sums say on how many there is one.

    Args:
        comm: The communicator, whose settings tell size and dtype of the buffers.
        parameters: Those that may have a gradient, in the order in which they are packed.
        owners: The rank of each parameter that alone gets its sum, by `id`; None where all do.
    """

    def __init__(
        self,
        comm: Collectives,
        parameters: Sequence[Parameter],
        owners: Mapping[int, int] | None = None,
    ) -> None:
        self.comm = comm
        self.owners = owners
        self.parameters = list(parameters)
        self._begun = self._waited = 0  # numbers of buckets
        self._under_way = 0  # bytes of the sums in between
        self._weight = 1.0  # of gradients before they are packed, which has to be in their dtype
        travelling, most = comm.get_config("allreduce_grad_dtype"), comm.get_config("bucket_bytes")
        filling: dict[tuple[str, Device], Bucket] = {}
        full: dict[Bucket, int] = {}  # with the last of its parameters
        for number, parameter in enumerate(self.parameters):
            dtype = travelling or parameter.backend.dtype_name(parameter.array.dtype)
            kind = dtype, comm.place_of_buffers(parameter.device)
            bucket, lone = filling.get(kind), Bucket(*kind)
            if parameter.size * lone.width >= min(comm.lone_bytes, most):
                bucket = lone
            elif bucket is None or (bucket.size + parameter.size) * bucket.width > most:
                bucket = filling[kind] = lone
            bucket.add(parameter)
            full[bucket] = number
        self.buckets = sorted(full, key=full.__getitem__)
        slots = {
            id(slot.parameter): slot
            for bucket in self.buckets
            for slot in bucket.lay_out(owners, comm.rank, comm.size)
        }
        self._slots = {id(parameter): slots[id(parameter)] for parameter in self.parameters}

    def begin(self, weight: float) -> None:
        """Begin a step, in which this rank's gradients count `weight`: nothing is packed yet."""
        self._begun = self._waited = self._under_way = 0
        for slot in self._slots.values():
            slot.is_packed, slot.grad = False, None
        is_cast = self.comm.get_config("allreduce_grad_dtype") is not None
        self._weight = weight if is_cast else 1.0
        for bucket in self.buckets:
            bucket.begin(1.0 if is_cast else weight)

    def is_packed(self, parameter: Parameter) -> bool:
        """Whether the gradient of a parameter has been taken in this step."""
        return self._slots[id(parameter)].is_packed

    def pack(self, parameter: Parameter, grad: Any) -> None:
        """Take the complete gradient of a parameter (None where it has none).

        When a bucket has those of all its parameters, they begin to be summed, once those of the
        buckets before it have begun.
        """
        slot = self._slots[id(parameter)]
        slot.grad = grad
        self._packed(slot, grad is not None)

    def _packed(self, slot: Slot, has_grad: bool) -> None:
        slot.is_packed, slot.mark = True, float(has_grad)
        slot.bucket.waiting -= 1
        while self._begun < len(self.buckets) and not self.buckets[self._begun].waiting:
            self._begin_sum(self._begun)
            self._begun += 1

    def _begin_sum(self, number: int) -> None:
        full = self.buckets[number]
        full.fill(self._weight)
        self._under_way += full.size * full.width
        if self.owners is None:
            full.pending = self.comm.isum(full.buffer, full.weight)
            return
        self._wait_for(number - UNDER_WAY)
        full.pending = self.comm.isum(full.buffer, full.weight, full.bounds)
        full.buffer = None  # of which a part comes back

    def _wait_for(self, number: int) -> None:
        pending = self.buckets[number].pending if number >= 0 else None
        if pending is not None:
            pending.wait()

    def go_on(self) -> None:
        """Let sums under way go on: libraries do so only while they are called."""
        for begun in self.buckets[: self._begun]:
            if begun.pending is not None:
                begun.pending.test()

    def pack_rest(self, in_place: bool = True) -> None:
        """Take the gradients that the parameters have, where none has been taken yet.

        `in_place` lets those that nobody else holds become their own sums. Nothing is computed
        beside these sums, so few are under way at once, which keeps them in the caches: as many
        bytes as a buffer has at most.
        """
        most = self.comm.get_config("bucket_bytes")
        for slot in self._slots.values():
            if slot.is_packed:
                continue
            parameter, bucket = slot.parameter, slot.bucket
            is_alone = in_place and len(bucket.slots) == 1 and parameter.grad is not None
            if is_alone and bucket.take(parameter):
                bucket.weight *= self._weight
                self._packed(slot, True)
            else:
                self.pack(parameter, parameter.grad)
            while self._under_way > most:
                done = self.buckets[self._waited]
                self._wait_for(self._waited)
                self._under_way -= done.size * done.width
                self._waited += 1

    def unpack(self, everywhere: int | None = None) -> None:
        """Wait for the sums, and give each parameter its own as its gradient.

        One that has a gradient on no rank gets None, and so does one that another rank owns. With
        `everywhere`, the number of ranks that have to have one, fewer are an error.
        """
        slots = self._slots.values()
        marks = backend.host().xp.asarray([slot.mark for slot in slots], dtype="float32")
        told = self.comm.iallreduce(marks)
        for number, bucket in enumerate(self.buckets):
            self._wait_for(number)
            if self.owners is not None and bucket.pending is not None:
                bucket.buffer = bucket.pending.result
        told.wait()
        counts = marks.tolist()
        if everywhere is not None:
            self._refuse_missing(counts, everywhere)
        for slot, count in zip(slots, counts, strict=True):
            grad = None
            if count and slot.is_here:
                grad = slot.bucket.buffer[slot.start : slot.stop].reshape(slot.shape)
                if slot.parameter._spec is not slot.spec:
                    grad = self._as_parameter(slot, grad)
            slot.parameter._grad = grad
        for bucket in self.buckets:
            bucket.buffer = bucket.pending = None

    def _as_parameter(self, slot: Slot, grad: Any) -> Any:
        """A gradient where its parameter is, and in its dtype; later ones may need no change."""
        slot.spec = spec_of(grad)
        spec, place = slot.parameter._spec, slot.bucket.place
        if spec is slot.spec or spec is None:
            return grad
        return slot.parameter.device.send(place.backend.asarray(grad, spec.name, place))

    def _refuse_missing(self, counts: Sequence[float], everywhere: int) -> None:
        for parameter, count in zip(self.parameters, counts, strict=True):
            if 0 < count < everywhere:
                raise CommunicatorError(
                    f"mean of gradients: {parameter.name or 'a parameter'} of shape "
                    f"{parameter.shape} has a gradient on {count:.0f} of {everywhere} ranks. "
                    "With zero_fill=True it counts as zeros on the others."
                )

    def allreduce(self, weight: float, everywhere: int | None = None) -> None:
        """Replace the gradients that the parameters have by their weighted sums over all ranks.

        With `everywhere`, an error leaves them as they were.
        """
        self.begin(weight)
        self.pack_rest(in_place=everywhere is None)
        self.unpack(everywhere)
