"""What communicators are made of, by which the processes of a job exchange arrays and objects."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import zip_longest
from operator import add
from typing import Any, Self

from core.arrays import backend
from core.arrays.array_backend import unwrapped
from core.arrays.backend import Device
from core.errors import CommunicatorError, nearest
from core.errors.scalars import is_whole
from core.errors.set_by_init import NeedsInit
from core.graph.fitting import is_array
from core.training.sums import NARROW, PartOfSum, Pending, as_sixteen_bits

_FOR_ALL = -1  # the tag of what is no message between two ranks of the user's


class Collectives(NeedsInit, ABC):
    """Objects, arrays and sums from rank to rank, and what ranks agree on: see `Communicator`."""

    doing = ""
    """In the words of an error: in the course of what a rank waits for a message."""
    lone_bytes = 1 << 20
    """Bytes from which on a gradient is summed by itself, where it lies, and not packed."""
    intra_rank = 0
    """The number of this process among those of its machine, of which there are `intra_size`."""
    intra_size = 1
    inter_rank = 0
    """The number of this machine among the `inter_size` machines of the job."""
    inter_size = 1

    def __init__(self, rank: int = 0, size: int = 1, **config: Any) -> None:
        self.rank = rank
        self.size = size
        self._config: dict[str, Any] = {
            "allreduce_grad_dtype": None,
            "batched_copy": True,
            "bucket_bytes": 1 << 22,
            "fixed_order": True,
        }
        for name, value in config.items():
            self.set_config(name, value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.where}>"

    @property
    def where(self) -> str:
        """Rank and machine, as errors tell them."""
        return f"rank {self.rank} of {self.size} on {socket.gethostname()}"

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # copies of a model talk to the same ranks

    # ------------------------------------------------------------------ what a subclass defines

    @abstractmethod
    def send_obj(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object to the rank `dest`. Raises CommunicatorError for a rank there is not."""

    @abstractmethod
    def recv_obj(self, source: int, tag: int = 0) -> Any:
        """The next object that the rank `source` sends with this `tag`."""

    @abstractmethod
    def split(self, color: int | None, key: int) -> Self | None:
        """The communicator of the ranks that give the same `color`, in the order of `key`.

        A rank that gives None belongs to none, and gets None.
        """

    def finalize(self) -> None:
        """Release what the communicator holds; it is not used any more."""

    def abort(self, reason: str) -> None:
        """End all ranks at once, where the library can; raises CommunicatorError otherwise."""
        raise CommunicatorError(f"{self!r}: {reason}")

    # ------------------------------------------------------------------ settings

    def set_config(self, name: str, value: Any = True) -> None:
        """Change a setting, the same on all ranks. Raises CommunicatorError for unknown names."""
        self.get_config(name)
        if name == "allreduce_grad_dtype" and value is not None:
            dtype = backend.host().dtype(value)
            value = getattr(dtype, "__name__", None) or backend.host().dtype_name(dtype)
            if value not in (*NARROW, "float32", "float64"):
                raise CommunicatorError(
                    f"{type(self).__name__}: expected allreduce_grad_dtype to be a floating dtype, "
                    f"got {value!r}."
                )
        if name == "bucket_bytes" and not (is_whole(value) and value > 0):
            raise CommunicatorError(
                f"{type(self).__name__}: expected bucket_bytes to be a positive whole number, got "
                f"{value!r}."
            )
        self._config[name] = value

    def get_config(self, name: str | None = None) -> Any:
        """A setting, or a dict of all of them."""
        if name is None:
            return dict(self._config)
        if name not in self._config:
            raise CommunicatorError(
                f"{type(self).__name__}: there is no setting {name!r}; there are "
                f"{', '.join(self._config)}.{nearest(name, self._config)}"
            )
        return self._config[name]

    def _peer(self, what: str, rank: Any, itself: bool = False) -> int:
        """The number of a rank that can be sent to, or received from."""
        if not is_whole(rank) or isinstance(rank, bool) or not 0 <= rank < self.size:
            ranks = f"from 0 to {self.size - 1}"
            raise CommunicatorError(f"{what}: expected a rank {ranks}, got {rank!r}.")
        if rank == self.rank and not itself:
            raise CommunicatorError(
                f"{what}: expected another rank, got {rank!r}, which is this one. Keep the value."
            )
        return int(rank)

    # ------------------------------------------------------------------ objects

    def bcast_obj(self, obj: Any, root: int = 0) -> Any:
        """The object of the rank `root`, on all ranks."""
        root = self._peer("bcast_obj", root, itself=True)
        if self.rank != root:
            return self.recv_obj(root, _FOR_ALL)
        for rank in range(self.size):
            if rank != root:
                self.send_obj(obj, rank, _FOR_ALL)
        return obj

    def gather_obj(self, obj: Any, root: int = 0) -> list[Any] | None:
        """A list of the objects of all ranks on `root`, None on the others."""
        root = self._peer("gather_obj", root, itself=True)
        if self.rank != root:
            self.send_obj(obj, root, _FOR_ALL)
            return None
        ranks = range(self.size)
        return [obj if rank == root else self.recv_obj(rank, _FOR_ALL) for rank in ranks]

    def allgather_obj(self, obj: Any) -> list[Any]:
        """A list of the objects of all ranks, on all of them."""
        return list(self.bcast_obj(self.gather_obj(obj)))

    def scatter_obj(self, objs: Sequence[Any] | None, root: int = 0) -> Any:
        """The object of `objs`, given on `root`, that has the place of this rank."""
        root = self._peer("scatter_obj", root, itself=True)
        if self.rank != root:
            return self.recv_obj(root, _FOR_ALL)
        objs = self._one_each("scatter", objs)
        for rank, obj in enumerate(objs):
            if rank != root:
                self.send_obj(obj, rank, _FOR_ALL)
        return objs[root]

    def alltoall_obj(self, objs: Sequence[Any]) -> list[Any]:
        """What every rank has at the place of this one in its `objs`."""
        rows = self.gather_obj(self._one_each("alltoall", objs))
        return list(self.scatter_obj(rows and list(zip(*rows, strict=True))))

    def allreduce_obj(self, obj: Any) -> Any:
        """The sum, by `+` in the order of the ranks, of the objects of all of them."""
        found = self.allgather_obj(obj)
        try:
            return reduce(add, found)
        except TypeError as error:
            kinds = ", ".join(sorted({type(each).__name__ for each in found}))
            raise CommunicatorError(
                f"allreduce_obj: expected objects that + adds, got {kinds}: {error}. "
                "allgather_obj gives those of all ranks."
            ) from error

    def barrier(self) -> None:
        """Return when all ranks have called it."""
        self.allgather_obj(None)

    def _one_each(self, what: str, given: Any) -> list[Any]:
        count = len(given) if hasattr(given, "__len__") else None
        if count != self.size:
            got = f"a {type(given).__name__}" if count is None else count
            raise CommunicatorError(
                f"{what}: expected {self.size} parts, one for each rank, got {got}."
            )
        return list(given)

    # ------------------------------------------------------------------ arrays

    def send(self, data: Any, dest: int, tag: int = 0) -> None:
        """Send an array, or a tuple of arrays, to the rank `dest`."""
        self.send_obj(_hosted("send", data), dest, tag)

    def recv(self, source: int, tag: int = 0) -> Any:
        """The array, or the tuple of arrays, that the rank `source` sends next with this `tag`."""
        found = self.recv_obj(source, tag)
        if not all(map(is_array, found if isinstance(found, tuple) else (found,))):
            raise CommunicatorError(
                f"recv: expected rank {source} to send an array, or a tuple of arrays, by send; "
                f"got {type(found).__name__}, which recv_obj receives."
            )
        return _delivered(found)

    def bcast(self, data: Any, root: int = 0) -> Any:
        """The array, or the tuple of arrays, of the rank `root`, on all ranks."""
        if self.rank == root:
            self.bcast_obj(_hosted("bcast", data), root)
            return tuple(data) if isinstance(data, list) else data
        return _delivered(self.bcast_obj(None, root))

    def gather(self, data: Any, root: int = 0) -> tuple[Any, ...] | None:
        """A tuple of what all ranks give on `root`, None on the others; shapes may differ."""
        found = self.gather_obj(_hosted("gather", data), root)
        return None if found is None else tuple([_delivered(each, data) for each in found])

    def allgather(self, x: Any) -> tuple[Any, ...]:
        """A tuple of what all ranks give, on all of them; shapes may differ."""
        found = self.allgather_obj(_hosted("allgather", x))
        return tuple([_delivered(each, x) for each in found])

    def alltoall(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """What every rank has at the place of this one in its `xs`, one for each rank."""
        given = self._one_each("alltoall", xs)
        found = self.alltoall_obj([_hosted("alltoall", x) for x in given])
        return tuple([_delivered(each, given[self.rank]) for each in found])

    def scatter(self, xs: Any, root: int = 0) -> Any:
        """The part of `xs`, given on `root`, at the place of this rank.

        `xs` is a tuple with an array for each rank, or an array whose first axis is that long.
        """
        if self.rank != root:
            return _delivered(self.scatter_obj(None, root))
        parts = self._one_each("scatter", xs)
        return _delivered(self.scatter_obj([_hosted("scatter", x) for x in parts], root), xs)

    def allreduce(self, data: Any) -> Any:
        """The sum over all ranks of an array, or of each of a tuple, alike in shape and dtype.

        Floats of 16 bits are added in float32, and the sum is rounded once.
        """
        single = not isinstance(data, (tuple, list))
        arrays = [data] if single else list(data)
        for each in arrays:
            _hosted("allreduce", each[:0, ...] if getattr(each, "ndim", 0) else each)
        self.compare("allreduce", [shown(array) for array in arrays])
        found = []
        for array in arrays:
            _refuse_unsummable(array)
            place = self.place_of_buffers(backend.get_device_from_array(array))
            flat = place.xp.reshape(place.send(array), (-1,))
            buffer = place.backend.copy(flat)
            self._sum(buffer)
            found.append(place.xp.reshape(buffer, array.shape))
        return _delivered(found[0] if single else tuple(found), data)

    def place_of_buffers(self, device: Device) -> Device:
        """Where arrays of `device` are summed: on the host, unless a subclass says otherwise."""
        return backend.host().default_device()

    def iallreduce(self, buffer: Any) -> Pending:
        """Begin to sum a contiguous array over all ranks, in place; `wait()` ends it.

        It lies where `place_of_buffers` says. Shapes and dtypes are not compared: the
        ranks have agreed on them before.
        """
        xp, own = backend.host().xp, buffer.dtype
        dtype = xp.float32 if as_sixteen_bits(buffer) else own
        parts = [part.astype(dtype) for part in self.allgather_obj(buffer)]
        buffer[...] = reduce(add, parts).astype(own)
        return Pending()

    def _sum(self, buffer: Any) -> None:
        """Sum a contiguous array over all ranks, in place, among other calls of all ranks."""
        self.iallreduce(buffer).wait()

    def ireduce_scatter(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to sum an array as `iallreduce` does, of which each rank gets a part.

        That of a rank is from `bounds[rank]` to `bounds[rank + 1]`, and is the `result` of what is
        returned, after `wait()`; the `buffer` is not to be used any more. The bits are those that
        `iallreduce` gives.
        """
        return PartOfSum(self.iallreduce(buffer), buffer, *bounds[self.rank : self.rank + 2])

    def isum(
        self, buffer: Any, weight: float = 1.0, bounds: Sequence[int] | None = None
    ) -> Pending:
        """Begin to sum gradients, multiplied by `weight`: in place, or by parts with `bounds`.

        A library that multiplies as it sums overrides this.
        """
        if weight != 1:
            buffer *= buffer.dtype.type(weight)
        if bounds is None:
            return self.iallreduce(buffer)
        return self.ireduce_scatter(buffer, bounds)

    def iallgather(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to give every rank the parts of all: each has its own in its place in `buffer`."""
        own = slice(*bounds[self.rank : self.rank + 2])
        parts = self.allgather_obj(backend.to_host(buffer[own]))
        for begin, part in zip(bounds, parts, strict=False):
            buffer[begin : begin + len(part)] = backend.of(buffer).asarray(part)
        return Pending()

    def tell(self, what: str, number: int = 0) -> list[int]:
        """Tell all ranks what this one is about to do, with a number; the numbers of all.

        Raises CommunicatorError on every rank where one is about to do something else.
        """
        told = self.allgather_obj((what, number))
        _refuse_difference("a step", [call for call, _ in told])
        return [found for _, found in told]

    def give_up(self, why: str) -> None:
        """Note that this rank takes no part in sums that others may be waiting for; says `why`.

        A communicator that can tells them, so that they do not wait until their time limit.
        """

    def compare(self, what: str, mine: Any) -> None:
        """Raise CommunicatorError on every rank, naming two, where the ranks give different values.

        `what` begins the message. The values are compared by `==`; of lists the first entries that
        differ are told.
        """
        _refuse_difference(what, self.allgather_obj(mine))


def _refuse_difference(what: str, everywhere: Sequence[Any]) -> None:
    """Raise where not all values are those of rank 0, naming the first that differ."""
    for rank, theirs in enumerate(everywhere):
        if theirs != everywhere[0]:
            here, there = everywhere[0], theirs
            if isinstance(here, list) and isinstance(there, list):
                pairs = zip_longest(here, there, fillvalue="nothing more")
                here, there = next((a, b) for a, b in pairs if a != b)
            raise CommunicatorError(
                f"{what}: expected the same on all ranks, but rank 0 has {here} and rank {rank} "
                f"has {there}."
            )


def on_host(value: Any) -> Any:
    """An array, or that of a Variable, on the host; what is none, as a scalar of NumPy, as it is.

    >>> import numpy as np
    >>> on_host(np.mean([1.0, 2.0])).item(), on_host("text")
    (1.5, 'text')
    """
    array = unwrapped(value)
    return backend.to_host(array) if is_array(array) else value


def shown(array: Any) -> str:
    """Dtype and shape, as errors tell them."""
    return f"{backend.of(array).dtype_name(array.dtype)} {tuple(array.shape)}"


def _refuse_unsummable(array: Any) -> None:
    if backend.of(array).kind(array.dtype) not in "iufc" and not as_sixteen_bits(array):
        raise CommunicatorError(
            f"allreduce: expected numbers, got {shown(array)}. Cast it, as to int8, for a count."
        )


def _hosted(what: str, data: Any) -> Any:
    """Arrays as they travel: on the host, in the order of C; a tuple where there are several."""
    if isinstance(data, (tuple, list)):
        return tuple([_array_on_host(what, each) for each in data])
    return _array_on_host(what, data)


def _array_on_host(what: str, data: Any) -> Any:
    try:
        host = backend.to_host(data)
    except Exception:
        raise CommunicatorError(
            f"{what}: expected an array, or a tuple of arrays, got {type(data).__name__}. Other "
            f"objects travel by {what}_obj."
        ) from None
    return backend.host().xp.ascontiguousarray(host).reshape(host.shape)


def _delivered(data: Any, like: Any = None) -> Any:
    """Arrays that have arrived, on the device of `like` or the current one."""
    while isinstance(like, (tuple, list)) and like:
        like = like[0]
    known = like is not None and not isinstance(like, (tuple, list))
    device = backend.get_device_from_array(like) if known else backend.current_device()
    send: Callable[[Any], Any] = device.send
    return tuple(map(send, data)) if isinstance(data, tuple) else send(data)
