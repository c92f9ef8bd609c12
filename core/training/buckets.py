"""Gradients on their way between processes: packed into buffers, summed, and handed back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """A sum under way; this one has come to its end already.

    Args:
        result: This rank's part of the sum, where it gets no more than that.
    """

    def __init__(self, result: Any = None) -> None:
        self.result = result

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

    The mark is 1 where a rank has a gradient, so that the sum says on how many there is one. Where
    parameters have owners, those of each owner lie side by side, with their marks: from
    `bounds[rank]` to `bounds[rank + 1]`.
    """

    def __init__(self, dtype: str, place: Device) -> None:
        self.dtype = dtype
        self.place = place
        self.parameters: list[Parameter] = []
        self.bounds: list[int] = []
        self.size = 0
        self.buffer: Any = None
        self.waiting = 0  # parameters whose gradients have not been packed in this step
        self.pending: Pending | None = None

    def add(self, parameter: Parameter) -> None:
        """Make room for one more."""
        self.parameters.append(parameter)
        self.size += parameter.size

    def lay_out(
        self, owners: Mapping[int, int] | None, ranks: int
    ) -> dict[int, tuple[Bucket, int, int]]:
        """Where gradient and mark of each parameter lie, and where the part of each rank ends."""
        places, end, self.bounds = {}, 0, [0]
        for rank in range(1 if owners is None else ranks):
            own = [p for p in self.parameters if owners is None or owners[id(p)] == rank]
            marks = end + sum([p.size for p in own])
            for number, parameter in enumerate(own):
                places[id(parameter)] = (self, end, marks + number)
                end += parameter.size
            end = marks + len(own)
            self.bounds.append(end)
        self.size = end
        return places

    def begin(self) -> None:
        """Begin a step."""
        self.buffer = self.pending = None
        self.waiting = len(self.parameters)

    def room(self) -> Any:
        """The buffer of this step, made when it is first needed."""
        if self.buffer is None:
            dtype = self.place.backend.dtype(self.dtype)
            self.buffer = self.place.xp.empty(self.size, dtype=dtype)
        return self.buffer


class Buckets(NeedsInit):
    """The gradients of a model, in buffers of about `bucket_bytes`, in a given order.

    All ranks have the same parameters in the same order; their sums begin in the order of the
    buffers, whatever the order in which the gradients come. Each step has new buffers, and the
    gradients that parameters get lie in them.

    Args:
        comm: The communicator, whose settings tell size and dtype of the buffers.
        parameters: Those that may have a gradient, in the order in which they are packed.
        owners: The rank of each parameter that alone gets its sum, by `id`; None where all do.
    """

    def __init__(
        self,
        comm: Communicator,
        parameters: Sequence[Parameter],
        owners: Mapping[int, int] | None = None,
    ) -> None:
        self.comm = comm
        self.owners = owners
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
            bucket.add(parameter)
        for bucket in self.buckets:
            self._places |= bucket.lay_out(owners, comm.size)

    def begin(self) -> None:
        """Begin a step: nothing is packed yet."""
        self._begun = 0
        self._packed.clear()
        for bucket in self.buckets:
            bucket.begin()

    def is_packed(self, parameter: Parameter) -> bool:
        """Whether the gradient of a parameter has been taken in this step."""
        return id(parameter) in self._packed

    def pack(self, parameter: Parameter, grad: Any, weight: float) -> None:
        """Take the complete gradient of a parameter (None where it has none), times `weight`.

        A buffer that is full begins to be summed, once those before it have begun.
        """
        bucket, start, mark = self._places[id(parameter)]
        buffer = bucket.room()
        self._packed.add(id(parameter))
        part = buffer[start : start + parameter.size].reshape(parameter.shape)
        buffer[mark] = grad is not None
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
            self._begin_sum(self.buckets[self._begun])
            self._begun += 1
        for begun in self.buckets[: self._begun]:
            if begun.pending is not None:
                begun.pending.test()  # libraries go on only while they are called

    def _begin_sum(self, full: Bucket) -> None:
        if self.owners is None:
            full.pending = self.comm.iallreduce(full.buffer)
        else:
            full.pending = self.comm.ireduce_scatter(full.buffer, full.bounds)
            full.buffer = None  # of which a part comes back

    def pack_rest(self, weight: float) -> None:
        """Take the gradients that the parameters have, where none has been taken yet."""
        for parameter in [p for bucket in self.buckets for p in bucket.parameters]:
            if not self.is_packed(parameter):
                self.pack(parameter, parameter.grad, weight)

    def unpack(self, everywhere: int | None = None) -> None:
        """Wait for the sums, and give each parameter its own as its gradient.

        One that has a gradient on no rank gets None, and so does one that another rank owns. With
        `everywhere`, the number of ranks that have to have one, fewer are an error, which leaves
        the gradients as they were.
        """
        sums: list[tuple[Bucket, Any, int]] = []
        for bucket in self.buckets:
            if bucket.pending is not None:
                bucket.pending.wait()
                if self.owners is None:
                    sums.append((bucket, bucket.buffer, 0))
                else:
                    sums.append((bucket, bucket.pending.result, bucket.bounds[self.comm.rank]))
                bucket.buffer = bucket.pending = None
        found: list[tuple[Parameter, Any]] = []
        short = None
        for bucket, sum_, first in sums:
            here = [p for p in bucket.parameters if self._is_here(p)]
            others = [p for p in bucket.parameters if not self._is_here(p)]
            found += [(parameter, None) for parameter in others]
            if not here:
                continue
            marks = self._places[id(here[0])][2] - first
            counts = backend.to_host(sum_[marks : marks + len(here)]).tolist()
            for parameter, count in zip(here, counts, strict=True):
                start = self._places[id(parameter)][1] - first
                part = sum_[start : start + parameter.size].reshape(parameter.shape)
                found.append((parameter, part if count else None))
                if everywhere is not None and 0 < count < everywhere:
                    short = parameter, count
        self._refuse_short(short, everywhere)
        for parameter, part in found:
            if part is not None and part.dtype != parameter.array.dtype:
                part = part.astype(parameter.array.dtype)
            parameter.grad = part if part is None else parameter.device.send(part)

    def _is_here(self, parameter: Parameter) -> bool:
        return self.owners is None or self.owners[id(parameter)] == self.comm.rank

    def _refuse_short(self, short: tuple[Parameter, float] | None, everywhere: int | None) -> None:
        """Raise on every rank where one knows of a gradient that some ranks alone have."""
        text = ""
        if short is not None:
            parameter, count = short
            text = (
                f"mean of gradients: {parameter.name or 'a parameter'} of shape {parameter.shape} "
                f"has a gradient on {count:.0f} of {everywhere} ranks. With zero_fill=True it "
                "counts as zeros on the others."
            )
        if self.owners is not None and everywhere is not None:
            text = next(filter(None, self.comm.allgather_obj(text)), "")
        if text:
            raise CommunicatorError(text)

    def allreduce(self, weight: float, everywhere: int | None = None) -> None:
        """Replace the gradients that the parameters have by their weighted sums over all ranks."""
        self.begin()
        self.pack_rest(weight)
        self.unpack(everywhere)
