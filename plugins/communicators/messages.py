"""Sums of arrays by messages between ranks, on as many machines as there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from core.training import Pending
from plugins.communicators.waiting import TAGS, Waiting, under_way

PIECE = 1 << 30
"""Bytes at once: counts of MPI are below 2^31."""


def is_narrow(array: Any) -> bool:
    """Whether these are floats of 16 bits, which are added in float32."""
    return array.dtype.itemsize == 2 and array.dtype.kind in "fV"


def counted(array: Any) -> list[Any]:
    """A flat array in parts that MPI can count."""
    step = PIECE // array.itemsize
    return [array[i : i + step] for i in range(0, array.size, step)]


def add_in_order(terms: Sequence[Any], out: Any) -> None:
    """Write the sum of arrays, added one after the other, to `out`, which may be the first."""
    with np.errstate(all="ignore"):  # what is not finite is found where it matters
        if is_narrow(out):
            total = terms[0].astype(np.float32)
            for term in terms[1:]:
                total += term.astype(np.float32)
            out[...] = total
            return
        np.add(terms[0], terms[1], out=out)
        for term in terms[2:]:
            out += term


class Messages:
    """Sums that travel apart from all else: the messages of each have a tag of their own.

    Args:
        comm: The communicator whose ranks sum.
        between: A communicator of mpi4py that nothing else uses.
    """

    lone_bytes = 1 << 20
    """As `Communicator.lone_bytes`: as little as costs no more by itself than it does packed."""

    def __init__(self, comm: Waiting, between: Any) -> None:
        self.comm, self.between = comm, between
        self._count = 0

    def close(self) -> None:
        """Release what it holds, on all ranks at once."""
        for each in [each for each in under_way if getattr(each, "by", None) is self]:
            del under_way[each]  # nobody waits for it any more
        self.between.Free()

    def tag(self) -> int:
        """The next one, the same on all ranks, which begin sums in the same order."""
        self._count += 1
        return self._count % TAGS

    def iallreduce(self, buffer: Any) -> Pending:
        """Begin to sum a contiguous array over all ranks, in place."""
        if self._in_order(buffer):
            return _OrderedSum(self, buffer)
        place, begin = self.comm._mpi.IN_PLACE, self.between.Iallreduce
        return _Requests(self.comm, [begin(place, part) for part in counted(buffer)])

    def _in_order(self, buffer: Any) -> bool:
        """Whether the order of additions is ours: bits of two terms do not depend on it."""
        if is_narrow(buffer):
            return True
        is_fixed = self.comm.get_config("fixed_order")
        return self.comm.size > 2 and buffer.dtype.kind in "fc" and is_fixed

    def ireduce_scatter(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to sum an array of which each rank gets a part, in the order of the ranks."""
        return _OrderedSum(self, buffer, bounds)

    def iallgather(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to give every rank the parts of all."""
        return _Requests(self.comm, self.spread(self.tag(), buffer, bounds))

    def spread(self, tag: int, buffer: Any, bounds: Sequence[int]) -> list[Any]:
        """Begin to send the own part of a buffer to all, and to receive theirs in their places."""
        rank = self.comm.rank
        parts = [_words(buffer[begin:end]) for begin, end in pairwise(bounds)]
        incoming = [(other, part) for other, part in enumerate(parts) if other != rank]
        return self.post(tag, incoming, [(other, parts[rank]) for other, _ in incoming])

    def post(
        self, tag: int, incoming: list[tuple[int, Any]], outgoing: list[tuple[int, Any]]
    ) -> list[Any]:
        """Begin to receive arrays from ranks, and to send some to them, the next rank first."""

        def distance(entry: tuple[int, Any]) -> int:
            return (entry[0] - self.comm.rank) % self.comm.size

        comm = self.between
        found = [comm.Irecv(part, rank, tag) for rank, part in incoming if part.size]
        outgoing = sorted(outgoing, key=distance)
        return [*found, *[comm.Isend(part, rank, tag) for rank, part in outgoing if part.size]]


class _Requests(Pending):
    """What MPI is about to do."""

    def __init__(self, comm: Waiting, requests: list[Any]) -> None:
        super().__init__()
        self._comm, self._requests = comm, requests

    def test(self) -> bool:
        return bool(self._comm._mpi.Request.Testall(self._requests))

    def wait(self) -> None:
        self._comm._until("sum over all ranks", self.test)


class _OrderedSum(_Requests):
    """A sum in the order of the ranks, of which each adds up a share; 16 bits in float32.

    Then all get the shares of all, or, where there are `bounds`, each rank what is its own.
    """

    def __init__(self, by: Messages, buffer: Any, bounds: Sequence[int] | None = None) -> None:
        comm = by.comm
        self.by, self._tag, self._buffer, self._bounds = by, by.tag(), buffer, bounds
        share = -(-buffer.size // comm.size)
        self._shares = [min(buffer.size, share * rank) for rank in range(comm.size + 1)]
        self._own = slice(*self._shares[comm.rank : comm.rank + 2])
        mine, ranks = buffer[self._own], [r for r in range(comm.size) if r != comm.rank]
        self._parts = {rank: np.empty_like(mine) for rank in ranks}
        incoming = [(rank, _words(part)) for rank, part in self._parts.items()]
        outgoing = [(r, _words(buffer[slice(*self._shares[r : r + 2])])) for r in ranks]
        super().__init__(comm, by.post(self._tag, incoming, outgoing))
        self._is_added = False
        under_way[self] = None

    def test(self) -> bool:
        if not super().test():
            return False
        if not self._is_added:
            self._is_added, total = True, self._total()
            if self._bounds is None:
                self._buffer[self._own] = total
                self._requests = self.by.spread(self._tag, self._buffer, self._shares)
            else:
                self._requests = self._hand_out(total, self._bounds)
            return self.test()
        self._buffer = None
        under_way.pop(self, None)
        return True

    def _hand_out(self, total: Any, bounds: Sequence[int]) -> list[Any]:
        """Begin to give each rank what is its own of this one's share."""
        comm, shares = self._comm, self._shares
        begin, end = bounds[comm.rank : comm.rank + 2]
        self.result = np.empty(end - begin, total.dtype)
        incoming, outgoing = [], []
        for rank in range(comm.size):
            low, high = max(begin, shares[rank]), min(end, shares[rank + 1])
            if low < high and rank != comm.rank:
                incoming.append((rank, _words(self.result[low - begin : high - begin])))
            low = max(self._own.start, bounds[rank])
            high = min(self._own.stop, bounds[rank + 1])
            if low < high:
                part = total[low - self._own.start : high - self._own.start]
                if rank == comm.rank:
                    self.result[low - begin : high - begin] = part
                else:
                    outgoing.append((rank, _words(part)))
        return self.by.post(self._tag, incoming, outgoing)

    def _total(self) -> Any:
        mine = self._buffer[self._own]
        total = np.empty_like(mine)
        add_in_order([self._parts.get(rank, mine) for rank in range(self._comm.size)], total)
        self._parts.clear()
        return total


class Swapped(Pending):
    """A sum of what has its bytes in another order than this machine, which MPI has no name for.

    Ranks may have theirs in different orders: each keeps its own.
    """

    def __init__(self, buffer: Any, begin: Callable[[Any], Pending]) -> None:
        super().__init__()
        self._buffer, self._native = buffer, buffer.astype(buffer.dtype.newbyteorder("="))
        self._sum = begin(self._native)

    def test(self) -> bool:
        """Let the sum go on; whether it has come to its end."""
        return self._sum.test()

    def wait(self) -> None:
        """Take the sum when it has come to its end."""
        self._sum.wait()
        if self._sum.result is None:
            self._buffer[...] = self._native
        else:
            self.result = self._sum.result.astype(self._buffer.dtype)


def _words(array: Any) -> Any:
    """Floats of 16 bits as what MPI knows."""
    return array.view(np.uint16) if is_narrow(array) else array
