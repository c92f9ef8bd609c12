"""Sums of arrays between ranks of one machine, in memory that all of them read and write.

The memory is a shared window of MPI (`MPI_Win_allocate_shared`). Each rank writes a piece of its
array to a place of its own there, adds up its share of what all have written, in the order of the
ranks, and takes the sum: no message is sent. How far each rank has come stands in the window too.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.training import Pending
from plugins.communicators.messages import Messages, add_in_order

if TYPE_CHECKING:
    from plugins.communicators.waiting import Waiting

_PLACES = 4  # pieces of each rank in the window at once
_WINDOW = 32 << 20  # bytes of it, of all ranks together
LEAST, MOST = 1 << 16, 1 << 20
"""Bytes of a piece."""
_LINE = 64  # bytes that a cache holds as one
_WRITTEN, _ADDED, _TAKEN = range(3)  # counts of pieces, of each rank


class SharedMemory(Messages):
    """Sums through a window that all ranks share; without a window they go by messages."""

    def __init__(self, comm: Waiting, between: Any) -> None:
        super().__init__(comm, between)
        size, rank = comm.size, comm.rank
        self.room = _room(size)
        self._pieces: deque[_Exchange] = deque()  # an entry for each, in their order
        self._begun = 0
        self._own = [0, 0, 0]
        length = _LINE + _PLACES * self.room
        self._window = comm._mpi.Win.Allocate_shared(length, 1, comm=between)
        self._window.Lock_all()
        parts = [memoryview(self._window.Shared_query(r)[0]).cast("B") for r in range(size)]
        counts = [part[:_LINE].cast("q") for part in parts]
        self._counts, self._mine = counts, counts[rank]
        self._memory = [np.frombuffer(part[_LINE:], np.uint8) for part in parts]
        self._mine[:] = memoryview(bytes(_LINE)).cast("q")
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
        return self._begin(_Sum(self, buffer))

    def ireduce_scatter(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to sum an array of which each rank gets a part, in the order of the ranks."""
        return self._begin(_PartOfSum(self, buffer, bounds))

    def iallgather(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to give every rank the parts of all."""
        return self._begin(_Parts(self, buffer, bounds))

    def _begin(self, exchange: _Exchange) -> Pending:
        self._pieces.extend([exchange] * exchange.left)
        self._begun += exchange.left
        self.go_on()
        return exchange

    def go_on(self) -> None:
        """Do what can be done by now, of all that has begun."""
        own, pieces, counts = self._own, self._pieces, self._counts
        while pieces:
            first = own[_TAKEN]  # the number of the first of the pieces
            if own[_WRITTEN] < self._begun and own[_WRITTEN] < _PLACES + min(
                [each[_TAKEN] for each in counts]
            ):
                pieces[own[_WRITTEN] - first].write(own[_WRITTEN])
                self._tell(_WRITTEN)
            elif own[_ADDED] < min([each[_WRITTEN] for each in counts]):
                self._window.Sync()
                pieces[own[_ADDED] - first].add(own[_ADDED])
                self._tell(_ADDED)
            elif first < min([each[_ADDED] for each in counts]):
                self._window.Sync()
                pieces.popleft().take(first)
                self._tell(_TAKEN)
            else:
                self.between.Iprobe()  # lets messages of other calls go on
                return

    def _tell(self, what: int) -> None:
        self._own[what] += 1
        self._window.Sync()
        self._mine[what] = self._own[what]

    def places(self, number: int, length: int, dtype: Any) -> list[Any]:
        """Where the ranks have the beginning of a piece."""
        begin = number % _PLACES * self.room
        end = begin + length * dtype.itemsize
        return [memory[begin:end].view(dtype) for memory in self._memory]


class _Exchange(Pending):
    """An exchange of an array, piece by piece; each rank has a part of it."""

    def __init__(self, by: SharedMemory, buffer: Any, bounds: Sequence[int] = ()) -> None:
        super().__init__()
        self._by, self._buffer, self._bounds = by, buffer, bounds
        self._step = by.room // buffer.itemsize
        self._first = by._begun
        self.left = -(-buffer.size // self._step)

    def test(self) -> bool:
        if self.left:
            self._by.go_on()
        return not self.left

    def wait(self) -> None:
        self._by.comm._until("sum over all ranks", self.test)

    def _piece(self, number: int) -> tuple[int, Any, list[Any]]:
        """Where a piece begins in the buffer, the piece, and the places of all ranks for it."""
        begin = (number - self._first) * self._step
        piece = self._buffer[begin : begin + self._step]
        return begin, piece, self._by.places(number, piece.size, piece.dtype)

    def _part(self, rank: int, begin: int, length: int) -> slice:
        """What of a piece is in the part of a rank."""
        low, high = [min(max(end - begin, 0), length) for end in self._bounds[rank : rank + 2]]
        return slice(low, high)

    def write(self, number: int) -> None:
        """Let the others see what this rank has."""
        _, piece, places = self._piece(number)
        places[self._by.comm.rank][...] = piece

    def add(self, number: int) -> None:
        """Add up this rank's share of what all have written."""

    def take(self, number: int) -> None:
        """Take what the ranks have made of it."""
        self.left -= 1


class _Sum(_Exchange):
    """The sum, which is made at the place of the first rank."""

    def add(self, number: int) -> None:
        _, piece, places = self._piece(number)
        comm, line = self._by.comm, _LINE // piece.itemsize
        share = -(-piece.size // (comm.size * line)) * line
        own = slice(share * comm.rank, share * (comm.rank + 1))
        terms = [place[own] for place in places]
        if terms[0].size:
            add_in_order(terms, terms[0])

    def take(self, number: int) -> None:
        _, piece, places = self._piece(number)
        piece[...] = places[0]
        super().take(number)


class _PartOfSum(_Exchange):
    """The sum of what is this rank's, as the result."""

    def __init__(self, by: SharedMemory, buffer: Any, bounds: Sequence[int]) -> None:
        super().__init__(by, buffer, bounds)
        begin, end = bounds[by.comm.rank : by.comm.rank + 2]
        self.result = np.empty(end - begin, buffer.dtype)

    def add(self, number: int) -> None:
        begin, piece, places = self._piece(number)
        rank = self._by.comm.rank
        own = self._part(rank, begin, piece.size)
        if own.start < own.stop:
            start = begin - self._bounds[rank]
            out = self.result[start + own.start : start + own.stop]
            add_in_order([place[own] for place in places], out)


class _Parts(_Exchange):
    """The parts of all ranks."""

    def write(self, number: int) -> None:
        begin, piece, places = self._piece(number)
        rank = self._by.comm.rank
        own = self._part(rank, begin, piece.size)
        places[rank][own] = piece[own]

    def take(self, number: int) -> None:
        begin, piece, places = self._piece(number)
        for rank, place in enumerate(places):
            part = self._part(rank, begin, piece.size)
            piece[part] = place[part]
        super().take(number)


def _room(size: int) -> int:
    """Bytes of a piece where so many ranks share a window."""
    return max(LEAST, min(MOST, _WINDOW // (_PLACES * size)))


def is_possible(size: int) -> bool:
    """Whether this machine has memory for the windows of so many ranks, as containers may not."""
    wanted = 2 * size * (_LINE + _PLACES * _room(size))  # a communicator has two
    try:
        there = os.statvfs("/dev/shm")
    except (AttributeError, OSError):  # not on Linux
        return os.name == "posix"
    return there.f_bavail * there.f_frsize > 1.25 * wanted  # others want some, too
