"""Sums of arrays between ranks of one machine, in memory that all of them read and write.

The memory is a shared window of MPI (`MPI_Win_allocate_shared`). Each rank writes a piece of its
array to a place of its own there, adds up its share of what all have written, in the order of the
ranks, and takes the sum: no message is sent. How far each rank has come stands in the window too.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.training import Pending
from plugins.communicators.messages import Messages, add_in_order
from plugins.communicators.waiting import Waiting, under_way

RING = 4 << 20
"""Bytes of the window that a rank has, of which a piece takes a quarter at most."""

_WINDOW = 32 << 20  # bytes of it, of all ranks together, as long as each has the least
_LEAST = 1 << 18
_LINE = 64  # bytes that a cache holds as one
_LITTLE = 1 << 16  # bytes beyond those of two ranks that each rank adds up itself, not a share
_WRITTEN, _ADDED, _TAKEN = range(3)  # counts of pieces, of each rank


class SharedMemory(Messages):
    """Sums through a window that all ranks share."""

    lone_bytes = 1 << 18

    def __init__(self, comm: Waiting, between: Any) -> None:
        super().__init__(comm, between)
        size, rank = comm.size, comm.rank
        self._ring = ring_of(size)
        self._pieces: deque[_Piece] = deque()  # those that not all ranks have taken
        self._gone = 0  # those that all have
        self._end = 0  # of the last piece, if the window had no end
        self._own = [0, 0, 0]
        self._window = comm._mpi.Win.Allocate_shared(_LINE + self._ring, 1, comm=between)
        self._window.Lock_all()
        parts = [memoryview(self._window.Shared_query(r)[0]).cast("B") for r in range(size)]
        counts = [part[:_LINE].cast("q") for part in parts]
        self._counts, self._mine = counts, counts[rank]
        self._memory = [np.frombuffer(part[_LINE:], np.uint8) for part in parts]
        self._mine[:] = memoryview(bytes(_LINE)).cast("q")
        self._memory[rank][:] = 0  # which takes it from the machine: `is_possible` sees it gone
        self._window.Sync()
        between.Barrier()

    def close(self) -> None:
        """Release the window, on all ranks at once."""
        del self._counts, self._mine, self._memory
        self._window.Unlock_all()
        self._window.Free()
        super().close()

    def iallreduce(self, buffer: Any) -> Pending:
        """Begin to sum a contiguous array over all ranks, in place."""
        return self.isum(buffer, 1.0, None)

    def ireduce_scatter(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to sum an array of which each rank gets a part, in the order of the ranks."""
        return self.isum(buffer, 1.0, bounds)

    def isum(self, buffer: Any, weight: float, bounds: Sequence[int] | None) -> Pending:
        """Begin to sum an array times `weight`: in place, or by parts where there are `bounds`."""
        if bounds is None:
            return self._begin(buffer, _Collective(self, weight), self._kind_of_sum(buffer.nbytes))
        own = bounds[self.comm.rank + 1] - bounds[self.comm.rank]
        result = np.empty(own, buffer.dtype)
        return self._begin(buffer, _Collective(self, weight, bounds, result), _PartOfSum)

    def iallgather(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to give every rank the parts of all."""
        return self._begin(buffer, _Collective(self, 1.0, bounds), _Parts)

    def _kind_of_sum(self, nbytes: int) -> type[_Piece]:
        """What takes less: that each adds up all, or that the shares of all are waited for."""
        return _SumByEach if nbytes * (self.comm.size - 2) <= _LITTLE else _Sum

    def _begin(self, buffer: Any, whole: _Collective, kind: type[_Piece]) -> Pending:
        ring = self._ring
        step = ring // 4 // buffer.itemsize
        for begin in range(0, buffer.size, step):
            array = buffer[begin : begin + step]
            length = -(-array.nbytes // _LINE) * _LINE
            if self._end % ring + length > ring:  # it begins where the memory does
                self._end += ring - self._end % ring
            at = slice(self._end % ring, self._end % ring + array.nbytes)
            places = [memory[at].view(array.dtype) for memory in self._memory]
            span = self._end, self._end + length
            self._pieces.append(kind(whole, begin, array, places, span))
            self._end += length
            whole.left += 1
        if whole.left:
            under_way[whole] = None
        self.go_on()
        return whole

    def go_on(self) -> None:
        """Do what can be done by now, of all that has begun."""
        own, pieces, counts, rank = self._own, self._pieces, self._counts, self.comm.rank
        while True:
            written, added, taken = own
            begun = self._gone + len(pieces)
            if written < begun and self._has_room(pieces[written - self._gone]):
                pieces[written - self._gone].write(rank)
                self._tell(_WRITTEN)
            elif added < written and pieces[added - self._gone].is_for_each:
                self._tell(_ADDED)  # nobody waits for its share
            elif added < written and added < min([each[_WRITTEN] for each in counts]):
                self._window.Sync()
                pieces[added - self._gone].add(rank)
                self._tell(_ADDED)
            elif taken < added and taken < min([each[_ADDED] for each in counts]):
                self._window.Sync()
                pieces[taken - self._gone].take()
                pieces[taken - self._gone].leave()
                self._tell(_TAKEN)
            else:
                self.between.Iprobe()  # lets messages of other calls go on
                return

    def _has_room(self, piece: _Piece) -> bool:
        """Whether the place of a piece is free: all ranks have taken what was there before."""
        pieces = self._pieces
        if piece.span[1] - pieces[0].span[0] <= self._ring:
            return True
        for _ in range(min([each[_TAKEN] for each in self._counts]) - self._gone):
            pieces.popleft()
            self._gone += 1
        return piece.span[1] - pieces[0].span[0] <= self._ring

    def _tell(self, what: int) -> None:
        self._own[what] += 1
        self._window.Sync()
        self._mine[what] = self._own[what]


class _Collective(Pending):
    """A sum or a gathering of an array, whose pieces hold it until they have been taken."""

    def __init__(
        self,
        by: SharedMemory,
        weight: float,
        bounds: Sequence[int] = (),
        result: Any = None,
    ) -> None:
        super().__init__(result)
        self.weight, self.bounds = weight, bounds
        self.left = 0  # pieces that have not been taken
        self.by = by

    def test(self) -> bool:
        if self.left:
            self.by.go_on()
        return not self.left

    def wait(self) -> None:
        self.by.comm._until("sum over all ranks", self.test)


class _Piece:
    """A piece of an array, which begins at an element of it, and where the ranks write theirs."""

    is_for_each = False
    """Whether nothing is to be done between the writing of all ranks and the taking."""

    def __init__(
        self,
        whole: _Collective,
        begin: int,
        array: Any,
        places: list[Any],
        span: tuple[int, int],
    ) -> None:
        self.whole, self.begin, self.array, self.places = whole, begin, array, places
        self.span = span

    def part(self, rank: int) -> slice:
        """The elements of the piece that are in the part of a rank."""
        ends = self.whole.bounds[rank : rank + 2]
        return slice(*[min(max(end - self.begin, 0), self.array.size) for end in ends])

    def write(self, rank: int) -> None:
        """Let the others see what this rank has."""
        weight, array, place = self.whole.weight, self.array, self.places[rank]
        if weight == 1:
            place[...] = array
        else:
            np.multiply(array, array.dtype.type(weight), out=place)

    def add(self, rank: int) -> None:
        """Add up this rank's share of what all have written."""

    def take(self) -> None:
        """Take what the ranks have made of it."""

    def leave(self) -> None:
        """Let go of the array, whose owner may ask who else holds it."""
        self.whole.left -= 1
        if not self.whole.left:
            under_way.pop(self.whole, None)
        del self.whole, self.array, self.places


class _Sum(_Piece):
    """A piece of a sum, which the ranks share out and make at the place of the first one."""

    def add(self, rank: int) -> None:
        line = _LINE // self.array.itemsize
        share = -(-self.array.size // (len(self.places) * line)) * line
        terms = [place[share * rank : share * (rank + 1)] for place in self.places]
        if terms[0].size:
            add_in_order(terms, terms[0])

    def take(self) -> None:
        self.array[...] = self.places[0]


class _SumByEach(_Piece):
    """A piece of a sum that each rank makes for itself: of few elements, or of two ranks."""

    is_for_each = True

    def take(self) -> None:
        add_in_order(self.places, self.array)


class _PartOfSum(_Piece):
    """A piece of a sum of which each rank keeps its part only."""

    def add(self, rank: int) -> None:
        own = self.part(rank)
        if own.start < own.stop:
            first = self.begin - self.whole.bounds[rank]
            out = self.whole.result[first + own.start : first + own.stop]
            add_in_order([place[own] for place in self.places], out)


class _Parts(_Piece):
    """A piece of an array that the ranks put together from their parts."""

    def write(self, rank: int) -> None:
        own = self.part(rank)
        self.places[rank][own] = self.array[own]

    def take(self) -> None:
        for rank, place in enumerate(self.places):
            part = self.part(rank)
            self.array[part] = place[part]


def ring_of(size: int) -> int:
    """Bytes of the window for each of so many ranks, whole lines: counts are read in one piece."""
    return max(min(RING, _LEAST), min(RING, _WINDOW // size)) // _LINE * _LINE


def is_possible(ranks: int, alone: bool = False) -> bool:
    """Whether this machine has memory for the windows of so many ranks, as containers may not.

    `alone` asks for as much as they have in communicators of their own.
    """
    wanted = 2 * ranks * (_LINE + ring_of(1 if alone else ranks))  # a communicator has two
    try:
        there = os.statvfs("/dev/shm")
    except (AttributeError, OSError):  # not on Linux
        return os.name == "posix"
    return there.f_bavail * there.f_frsize > 1.25 * wanted  # others want some, too
