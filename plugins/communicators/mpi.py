"""Communication by MPI, through mpi4py: between processes of one machine or many.

What all ranks do together begins with a short note to each other that says what each of them is
about to do. So a rank that does something else, or has come to the end of its program, is an error
on all of them, by name, and not a job that stands still. Nothing waits without a limit.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np

from core.errors import CommunicatorError
from core.errors.kinds import checked
from core.registry import threads
from core.training import Communicator, Pending
from plugins.communicators.global_except_hook import add_hook, end_all
from plugins.communicators.watched import be_watched, leave
from plugins.communicators.watcher import ENDING
from plugins.extras import need
from plugins.processes.ipc import decode, encode

_NOTE = 256  # bytes of the notes: a number, then what is called
_PIECE = 1 << 30  # bytes at once: counts of MPI are below 2^31
_AWAKE = 0.001  # seconds for which waiting takes all of a core, where each rank has one
_PATIENCE = 1.0  # seconds for which it takes what nobody else wants
_STARTERS = {  # variables by which launchers tell how many processes there are
    "PMI_SIZE": "the mpiexec of MPICH",
    "OMPI_COMM_WORLD_SIZE": "the mpiexec of Open MPI",
}


class MpiCommunicator(Communicator):
    """The communicator of processes that were started by `mpiexec`, or by a batch system.

    Arrays are exchanged in the memory of the host. Floats of 16 bits, which MPI does not know, are
    divided among the ranks, added in float32 in the order of the ranks, rounded once, and gathered.

    An exception that nobody catches on any rank ends the job: see `global_except_hook`.

    Args:
        mpi_comm: A communicator of mpi4py; None for MPI.COMM_WORLD.
        time_limit: Seconds for which a rank waits for another before it raises CommunicatorError.
        **config: Settings of `core.training.Communicator`.
    """

    @checked
    def __init__(self, mpi_comm: Any = None, *, time_limit: float = 600.0, **config: Any) -> None:
        self._mpi = _library()
        given = self._mpi.COMM_WORLD if mpi_comm is None else mpi_comm
        self._comm = given.Dup()  # so that messages of others are no concern of ours
        self._here, self._beside = _Channel(given.Dup()), _Channel(given.Dup())
        super().__init__(self._comm.Get_rank(), self._comm.Get_size(), **config)
        self._sent, self._received = [0] * self.size, [0] * self.size  # objects, by peers
        self._waiting: dict[int, Any] = {}  # what peers have told that wait for this rank
        self._told: list[Any] = []  # what this one has told, as long as it is under way
        self._own_config = {**config, "time_limit": time_limit}
        self.time_limit = float(time_limit)
        self._refuse_lone_processes()
        is_job = self.size > 1 and mpi_comm is None
        self._place_among_machines(is_job)
        if is_job:
            add_hook()
            atexit.register(self._end)

    def _refuse_lone_processes(self) -> None:
        """Processes that were started together, by another MPI than this one, are each alone."""
        for variable, starter in _STARTERS.items():
            count = os.environ.get(variable, "1")
            if self._mpi.COMM_WORLD.Get_size() == 1 and count.isdecimal() and int(count) > 1:
                library = self._mpi.Get_library_version().partition("\n")[0].strip()
                raise CommunicatorError(
                    f"create_communicator: {starter} has started {count} processes, but mpi4py has "
                    f"loaded {library}, in which each of them is alone. Start them by the mpiexec "
                    "of the MPI that mpi4py uses; `plugrad doctor` says which that is."
                )

    def _place_among_machines(self, is_job: bool) -> None:
        within = self._comm.Split_type(self._mpi.COMM_TYPE_SHARED, self.rank)
        if is_job:
            be_watched(self.where, within)
        self.intra_rank, self.intra_size = within.Get_rank(), within.Get_size()
        firsts = self._comm.allgather(within.bcast(self.rank))
        within.Free()
        self._crowded = self.intra_size > threads.processors()
        machines = sorted(set(firsts))
        self.inter_rank, self.inter_size = machines.index(firsts[self.rank]), len(machines)

    def split(self, color: int | None, key: int) -> Self | None:
        """The communicator of the ranks that give the same `color`, in the order of `key`."""
        self.tell("split")
        part = self._comm.Split(self._mpi.UNDEFINED if color is None else color, key)
        return None if part == self._mpi.COMM_NULL else type(self)(part, **self._own_config)

    def finalize(self) -> None:
        """Release the communicator, after all ranks have called this."""
        if self._comm is not None:
            atexit.unregister(self._end)
            self.tell("finalize")
            for each in (self._comm, self._here.comm, self._beside.comm):
                each.Free()
            self._comm = None

    def _end(self) -> None:
        """At the end of the program: where others still wait, the job ends with an error."""
        self.time_limit *= 2  # those that wait for a message tell more of what is wrong
        try:
            self.tell("the end of the program")
        except BaseException as error:
            end_all(self._mpi.COMM_WORLD, str(error))

    def _abort(self) -> None:
        leave(ENDING)
        self._mpi.COMM_WORLD.Abort(1)

    def abort(self, reason: str) -> None:
        """Print the reason and end all processes of the job."""
        end_all(self._mpi.COMM_WORLD, f"{self.where}: {reason}")

    # ------------------------------------------------------------------ waiting

    def _wait(self, what: str, *requests: Any, on: Sequence[int] | None = None) -> None:
        """Wait until all requests are met; raise after the time limit.

        `on` are the ranks that have to do something for that: by default all, which call the same.
        """
        everybody = range(self.size) if on is None else on
        self._until(what, lambda: bool(self._mpi.Request.Testall(list(requests))), everybody)

    def _until(self, what: str, met: Any, on: Sequence[int] = ()) -> None:
        began, is_told = time.monotonic(), False
        while not met():
            waited = time.monotonic() - began
            if waited > _PATIENCE and on:
                if len(on) == 1 < self.size and not is_told:
                    is_told = True
                    self._tell_waiting(on[0])
                self._refuse_standstill(what, on)
            if waited > self.time_limit:
                atexit.unregister(self._end)
                atexit.register(self._abort)  # which would wait for ever
                raise CommunicatorError(
                    f"{what}: {self.where} has waited {waited:.0f} seconds for another rank, "
                    f"which is the time limit. Did all ranks call it? A longer limit is set by "
                    "create_communicator(..., time_limit=seconds)."
                )
            if waited > _AWAKE or self._crowded:
                time.sleep(0 if waited < _PATIENCE else 0.0005)

    def _tell_waiting(self, rank: int) -> None:
        """Let a rank know that this one waits for its next message, and after how many."""
        note = np.zeros(_NOTE, np.uint8)
        note[:16] = np.array([self._received[rank], self._sent[rank]]).view(np.uint8)
        text = self.doing.encode()[: _NOTE - 16]
        note[16 : 16 + len(text)] = np.frombuffer(text, np.uint8)
        self._told = [each for each in self._told if not each[0].Test()]
        self._told.append((self._here.comm.Isend(note, rank, _WAITING), note))

    def _hear_waiting(self) -> None:
        status, comm = self._mpi.Status(), self._here.comm
        while comm.Iprobe(self._mpi.ANY_SOURCE, _WAITING, status):
            note, rank = np.empty(_NOTE, np.uint8), status.Get_source()
            comm.Recv(note, rank, _WAITING)
            self._waiting[rank] = note

    def _refuse_standstill(self, what: str, on: Sequence[int]) -> None:
        """Raise where this rank waits for one that waits for a message which it has not sent.

        Both have received all that was sent, so neither will ever go on.
        """
        self._hear_waiting()
        for rank, note in self._waiting.items():
            received, sent = note[:16].view(np.int64).tolist()
            is_all = len(on) > 1 or sent == self._received[rank]
            if rank in on and received == self._sent[rank] and is_all:
                doing = note[16:].tobytes().rstrip(b"\0").decode(errors="replace")
                raise CommunicatorError(
                    f"{what}: {self.where} waits for rank {rank}, which waits for a message that "
                    f"this one has not sent{doing and ', '}{doing}."
                )

    def tell(self, what: str, number: int = 0) -> list[int]:
        """Tell all ranks what this one is about to do, with a number; the numbers of all.

        Raises CommunicatorError on every rank where one is about to do something else.
        """
        mine = np.zeros(_NOTE, np.uint8)
        mine[:8] = np.frombuffer(np.int64(number).tobytes(), np.uint8)
        text = what.encode()[: _NOTE - 8]
        mine[8 : 8 + len(text)] = np.frombuffer(text, np.uint8)
        notes = np.empty((self.size, _NOTE), np.uint8)
        self._wait(what, self._comm.Iallgather(mine, notes))
        calls = [note[8:].tobytes().rstrip(b"\0").decode(errors="replace") for note in notes]
        for rank, call in enumerate(calls):
            if call != calls[0]:
                raise CommunicatorError(
                    f"{self.where}: expected the same on all ranks, but rank 0 is at {calls[0]!r} "
                    f"and rank {rank} at {call!r}. All ranks call the same, in the same order and "
                    "as often."
                )
        return [int(note[:8].view(np.int64)[0]) for note in notes]

    def compare(self, what: str, mine: Any) -> None:
        """Raise CommunicatorError on every rank where the ranks give different values."""
        text = f"{what} {mine}"
        if len(text.encode()) > _NOTE - 8:
            self.tell(what)
            super().compare(what, mine)
        else:
            self.tell(text)

    # ------------------------------------------------------------------ objects

    def send_obj(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object; returns when it may be changed again."""
        dest, message = self._peer("send", dest), _packed(obj)
        self._sent[dest] += 1
        self._hear_waiting()
        length = np.array([message.size])
        pieces = [self._comm.Isend(piece, dest, tag) for piece in (length, *_pieces(message))]
        self._wait(f"send to rank {dest}", *pieces, on=())

    def recv_obj(self, source: int, tag: int = 0) -> Any:
        """The next object that the rank `source` sends with this `tag`."""
        source, length = self._peer("recv", source), np.empty(1, np.int64)
        what = f"recv from rank {source}"
        self._hear_waiting()
        self._wait(what, self._comm.Irecv(length, source, tag), on=[source])
        message = np.empty(int(length[0]), np.uint8)
        pieces = [self._comm.Irecv(piece, source, tag) for piece in _pieces(message)]
        self._wait(what, *pieces, on=())
        self._received[source] += 1
        return decode(message)

    def bcast_obj(self, obj: Any, root: int = 0) -> Any:
        """The object of the rank `root`, on all ranks."""
        root = self._peer("bcast", root, itself=True)
        mine = _packed(obj) if self.rank == root else np.empty(0, np.uint8)
        return self._spread(f"bcast from rank {root}", mine, obj, [root])[0]

    def allgather_obj(self, obj: Any) -> list[Any]:
        """A list of the objects of all ranks, on all of them."""
        return self._spread("allgather", _packed(obj), obj, range(self.size))

    def _spread(self, what: str, mine: Any, own: Any, roots: Sequence[int]) -> list[Any]:
        """The objects of some ranks, on all of them: a broadcast from each, at the same time."""
        lengths = self.tell(what, mine.size)
        messages = {
            rank: mine if rank == self.rank else np.empty(lengths[rank], np.uint8) for rank in roots
        }
        self._wait(
            what,
            *[
                self._comm.Ibcast(piece, rank)
                for rank, message in messages.items()
                for piece in _pieces(message)
            ],
        )
        return [own if rank == self.rank else decode(m) for rank, m in messages.items()]

    def gather_obj(self, obj: Any, root: int = 0) -> list[Any] | None:
        """A list of the objects of all ranks on `root`, None on the others."""
        root = self._peer("gather", root, itself=True)
        objs = [obj if rank == root else None for rank in range(self.size)]
        found = self._shuffle(f"gather to rank {root}", objs, {root})
        return found if self.rank == root else None

    def scatter_obj(self, objs: Sequence[Any] | None, root: int = 0) -> Any:
        """The object of `objs`, given on `root`, that has the place of this rank."""
        root = self._peer("scatter", root, itself=True)
        given = self._one_each("scatter", objs) if self.rank == root else [None] * self.size
        to = range(self.size) if self.rank == root else ()
        return self._shuffle(f"scatter from rank {root}", given, to)[root]

    def alltoall_obj(self, objs: Sequence[Any]) -> list[Any]:
        """What every rank has at the place of this one in its `objs`."""
        return self._shuffle("alltoall", self._one_each("alltoall", objs), range(self.size))

    def _shuffle(self, what: str, objs: Sequence[Any], to: Any) -> list[Any]:
        """Give each of the ranks in `to` its object; what the ranks have for this one."""
        self.tell(what)
        messages = {r: _packed(objs[r]) for r in to if r != self.rank}
        lengths = np.array([messages[r].size if r in messages else 0 for r in range(self.size)])
        incoming = np.empty_like(lengths)
        self._wait(what, self._comm.Ialltoall(lengths, incoming))
        found = {r: np.empty(n, np.uint8) for r, n in enumerate(incoming.tolist()) if n}
        requests = [
            begin(piece, rank, _OBJECTS)
            for begin, way in ((self._comm.Irecv, found), (self._comm.Isend, messages))
            for rank, message in way.items()
            for piece in _pieces(message)
        ]
        self._wait(what, *requests)
        return [
            objs[r] if r == self.rank else decode(found[r]) if r in found else None
            for r in range(self.size)
        ]

    def barrier(self) -> None:
        """Return when all ranks have called it."""
        self.tell("barrier")

    # ------------------------------------------------------------------ sums

    def iallreduce(self, buffer: Any) -> Pending:
        """Begin to sum a contiguous host array over all ranks, in place."""
        return self._begin_sum(buffer, self._beside)

    def _sum(self, buffer: Any) -> None:
        self._begin_sum(buffer, self._here).wait()

    def _begin_sum(self, buffer: Any, channel: _Channel) -> Pending:
        if self.size == 1:
            return Pending()
        if not buffer.dtype.isnative:  # which MPI has no name for
            return super().iallreduce(buffer)
        if self._in_order(buffer):
            return _OrderedSum(self, channel, buffer)
        step, comm = _PIECE // buffer.itemsize, channel.comm
        parts = [buffer[i : i + step] for i in range(0, buffer.size, step)]
        return _Requests(self, [comm.Iallreduce(self._mpi.IN_PLACE, part) for part in parts])

    def _in_order(self, buffer: Any) -> bool:
        """Whether the order of additions is ours: bits of two terms do not depend on it."""
        if _is_narrow(buffer):
            return True
        return self.size > 2 and buffer.dtype.kind in "fc" and self._config["fixed_order"]

    def ireduce_scatter(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to sum an array of which each rank gets a part."""
        native = buffer.dtype.isnative
        if self.size == 1 or not native or not (self._in_order(buffer) or self.size == 2):
            return super().ireduce_scatter(buffer, bounds)
        return _OrderedSum(self, self._beside, buffer, bounds)

    def iallgather(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to give every rank the parts of all."""
        if self.size == 1:
            return Pending()
        tag = self._here.tag()
        return _Requests(self, self._spread_parts(self._here, tag, buffer, bounds))

    def _spread_parts(
        self, channel: _Channel, tag: int, buffer: Any, bounds: Sequence[int]
    ) -> list[Any]:
        """Begin to send the own part of a buffer to all, and to receive theirs in their places."""
        parts = [_words(buffer[begin:end]) for begin, end in pairwise(bounds)]
        incoming = [(rank, part) for rank, part in enumerate(parts) if rank != self.rank]
        outgoing = [(rank, parts[self.rank]) for rank, _ in incoming]
        return self._messages(channel, tag, incoming, outgoing)

    def _messages(
        self,
        channel: _Channel,
        tag: int,
        incoming: list[tuple[int, Any]],
        outgoing: list[tuple[int, Any]],
    ) -> list[Any]:
        """Begin to receive arrays from ranks, and to send some to them, the next rank first."""

        def distance(entry: tuple[int, Any]) -> int:
            return (entry[0] - self.rank) % self.size

        comm = channel.comm
        found = [comm.Irecv(part, rank, tag) for rank, part in incoming if part.size]
        outgoing = sorted(outgoing, key=distance)
        return [*found, *[comm.Isend(part, rank, tag) for rank, part in outgoing if part.size]]


class _Requests(Pending):
    """What MPI is about to do."""

    def __init__(self, comm: MpiCommunicator, requests: list[Any]) -> None:
        super().__init__()
        self._comm, self._requests = comm, requests

    def test(self) -> bool:
        return bool(self._comm._mpi.Request.Testall(self._requests))

    def wait(self) -> None:
        self._comm._until("sum over all ranks", self.test)


class _Channel:
    """Where sums travel, apart from all else: the messages of each have a tag of their own."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self._count = 0

    def tag(self) -> int:
        """The next one, the same on all ranks, which use the channel in the same order."""
        self._count += 1
        return self._count % _TAGS


class _OrderedSum(Pending):
    """A sum in the order of the ranks, of which each adds up a share; 16 bits in float32.

    Then all get the shares of all, or, where there are `bounds`, each rank what is its own.
    """

    def __init__(
        self,
        comm: MpiCommunicator,
        channel: _Channel,
        buffer: Any,
        bounds: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self._comm, self._channel, self._tag = comm, channel, channel.tag()
        self._buffer, self._bounds = buffer, bounds
        share = -(-buffer.size // comm.size)
        self._shares = [min(buffer.size, share * rank) for rank in range(comm.size + 1)]
        self._own = slice(*self._shares[comm.rank : comm.rank + 2])
        mine, ranks = buffer[self._own], [r for r in range(comm.size) if r != comm.rank]
        self._parts = {rank: np.empty_like(mine) for rank in ranks}
        incoming = [(rank, _words(part)) for rank, part in self._parts.items()]
        outgoing = [(r, _words(buffer[slice(*self._shares[r : r + 2])])) for r in ranks]
        self._requests = comm._messages(channel, self._tag, incoming, outgoing)
        self._is_added = False

    def test(self) -> bool:
        if not self._comm._mpi.Request.Testall(self._requests):
            return False
        if not self._is_added:
            self._is_added, total = True, self._total()
            if self._bounds is None:
                self._buffer[self._own] = total
                self._requests = self._comm._spread_parts(
                    self._channel, self._tag, self._buffer, self._shares
                )
            else:
                self._requests = self._hand_out(total, self._bounds)
            return self.test()
        self._buffer = None
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
        return comm._messages(self._channel, self._tag, incoming, outgoing)

    def _total(self) -> Any:
        mine = self._buffer[self._own]
        wide = np.float32 if _is_narrow(mine) else mine.dtype
        terms = [self._parts.get(rank, mine) for rank in range(self._comm.size)]
        with np.errstate(all="ignore"):  # what is not finite is found where it matters
            total = terms[0].astype(wide)
            for term in terms[1:]:
                total += term.astype(wide, copy=False)
        self._parts.clear()
        return total.astype(mine.dtype, copy=False)

    def wait(self) -> None:
        self._comm._until("sum over all ranks", self.test)


_TAGS = 1 << 14  # the standard has twice as many
_WAITING = _TAGS  # of the notes of those that wait
_OBJECTS = 0x6F62  # a tag beside those of users, which the messages of collective calls have


def _packed(obj: Any) -> Any:
    """The message of an object, in one block."""
    pieces = [np.frombuffer(piece, np.uint8) for piece in encode(obj) if len(piece)]
    return np.concatenate(pieces)


def _pieces(message: Any) -> list[Any]:
    return [message[i : i + _PIECE] for i in range(0, message.size, _PIECE)]


def _is_narrow(array: Any) -> bool:
    """Whether these are floats of 16 bits, which are added in float32."""
    return array.dtype.name in ("float16", "bfloat16")


def _words(array: Any) -> Any:
    """Floats of 16 bits as what MPI knows."""
    return array.view(np.uint16) if _is_narrow(array) else array


def _library() -> Any:
    """mpi4py, once it has found an MPI."""
    try:
        return need("mpi4py.MPI", "mpi", "create_communicator('mpi')")
    except RuntimeError as error:
        raise ImportError(
            f"create_communicator('mpi') found mpi4py but no MPI: {error}. Install one, as with "
            "`pip install mpich`, or `pip install 'plugrad[mpi]'`; 'local' needs none."
        ) from error


mpi = naive = flat = non_cuda_aware = MpiCommunicator
