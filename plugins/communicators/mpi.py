"""Communication by MPI, through mpi4py: between processes of one machine or many.

What all ranks do together begins with a short note to each other that says what each of them is
about to do. So a rank that does something else, or has come to the end of its program, is an error
on all of them, by name, and not a job that stands still. Nothing waits without a limit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from core.errors import CommunicatorError
from core.errors.kinds import checked
from core.errors.scalars import is_whole
from core.registry import threads
from core.training import Pending
from plugins.communicators.argument import refuse_other
from plugins.communicators.at_end import at_end, not_at_end
from plugins.communicators.global_except_hook import add_hook, end_all
from plugins.communicators.messages import Messages, Swapped, counted
from plugins.communicators.shared_memory import SharedMemory, is_possible
from plugins.communicators.waiting import Waiting
from plugins.communicators.watched import be_watched, leave
from plugins.communicators.watcher import ENDING
from plugins.extras import need
from plugins.processes.ipc import decode, encode

_MOST = 1 << 31  # more than the numbers that MPI takes
_LEAVE = 10.0  # seconds until what is on its way has come, as all have stopped
_OBJECTS = 0x6F62  # the tag of the messages of collective calls
_STARTERS = {  # variables by which launchers tell how many processes there are
    "PMI_SIZE": "the mpiexec of MPICH",
    "OMPI_COMM_WORLD_SIZE": "the mpiexec of Open MPI",
}


class MpiCommunicator(Waiting):
    """The communicator of processes that were started by `mpiexec`, or by a batch system.

    Arrays are exchanged in the memory of the host. Where all ranks are on one machine, they are
    summed in memory that all share, and else by messages. Floats of 16 bits, which MPI does not
    know, are added in float32 in the order of the ranks, and rounded once.

    An exception that nobody catches on any rank ends the job: see `global_except_hook`.

    Args:
        mpi_comm: A communicator of mpi4py; None for MPI.COMM_WORLD.
        time_limit: Seconds for which a rank waits for another before it raises CommunicatorError.
        shared_memory: Whether ranks of one machine sum in memory that they share, 8 MiB for each
            of up to eight; where the machine has less, as a container may, they send messages.
        **config: Settings of `core.training.Communicator`.
    """

    @checked
    def __init__(
        self,
        mpi_comm: Any = None,
        *,
        time_limit: float = 600.0,
        shared_memory: bool = True,
        **config: Any,
    ) -> None:
        self._mpi = _library()
        given = self._mpi.COMM_WORLD if mpi_comm is None else mpi_comm
        a_communicator = "a communicator of mpi4py, such as MPI.COMM_WORLD"
        refuse_other("create_communicator", "mpi_comm", given, self._mpi.Intracomm, a_communicator)
        self._comm = given.Dup()  # so that messages of others are no concern of ours
        super().__init__(self._comm.Get_rank(), self._comm.Get_size(), time_limit, **config)
        self._own_config = {**config, "time_limit": time_limit, "shared_memory": shared_memory}
        self._refuse_lone_processes()
        is_job = self.size > 1 and mpi_comm is None
        self._place_among_machines(is_job)
        self._notes = given.Dup()
        sums = SharedMemory if shared_memory and self._share_memory() else Messages
        self._here, self._beside = sums(self, given.Dup()), sums(self, given.Dup())
        self.lone_bytes = sums.lone_bytes
        if is_job:
            add_hook()
            at_end(self._end)

    def _share_memory(self) -> bool:
        """Whether all ranks are on this machine, which has memory for what they share."""
        is_one = self.intra_size == self.size > 1
        return is_one and self._agree_on(is_possible(self.size))

    def _agree_on(self, what: bool) -> bool:
        return bool(self._comm.allreduce(what, self._mpi.MIN))

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

    @checked
    def split(self, color: int | None, key: int) -> Self | None:
        """The communicator of the ranks that give the same `color`, in the order of `key`."""
        for name, value, least in (("color", color, 0), ("key", key, -_MOST)):
            if value is not None and not least <= value < _MOST:
                raise CommunicatorError(
                    f"split: expected {name} to be from {least} to {_MOST - 1}, got {value}. None "
                    "is the color of a rank that belongs to no part."
                )
        self.tell("split")
        config = dict(self._own_config)
        # Several are made at once, each of which would take what is there for its own.
        config["shared_memory"] &= self._agree_on(is_possible(self.intra_size, alone=True))
        part = self._comm.Split(self._mpi.UNDEFINED if color is None else color, key)
        return None if part == self._mpi.COMM_NULL else type(self)(part, **config)

    def finalize(self) -> None:
        """Release the communicator, after all ranks have called this."""
        if not isinstance(self._comm, _Released):
            not_at_end(self._end)
            self.tell("finalize")
            self._see_off()
            self._here.close()
            self._beside.close()
            self._comm.Free()
            self._notes.Free()
            self._comm = self._notes = _Released()

    def _end(self) -> None:
        """At the end of the program: where others still wait, the job ends with an error."""
        self.time_limit *= 2  # those that wait for a message tell more of what is wrong
        try:
            self.tell("the end of the program")
            self._see_off()
        except BaseException as error:
            end_all(self._mpi.COMM_WORLD, str(error))

    def _abort(self) -> None:
        leave(ENDING)
        self._mpi.COMM_WORLD.Abort(1)

    def abort(self, reason: str) -> None:
        """Print the reason and end all processes of the job."""
        end_all(self._mpi.COMM_WORLD, f"{self.where}: {reason}")

    # ------------------------------------------------------------------ objects

    def _tag(self, what: str, tag: Any) -> int:
        """The number of a tag that MPI knows."""
        most = self._mpi.COMM_WORLD.Get_attr(self._mpi.TAG_UB)
        if not is_whole(tag) or isinstance(tag, bool) or not 0 <= tag <= most:
            raise CommunicatorError(f"{what}: expected a tag from 0 to {most}, got {tag!r}.")
        return int(tag)

    def send_obj(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object; returns when it may be changed again.

        What is too large to be sent before `dest` receives it is waited for, unless another rank
        waits for this one to receive: in a ring, or of two that send to each other, none would.
        """
        self._refuse_recording("send")
        tag = self._tag("send", tag)
        dest, message = self._peer("send", dest), _packed(obj)
        self._sent[dest] += 1
        self._hear_waiting()
        length = np.array([message.size])
        pieces = [self._comm.Isend(piece, dest, tag) for piece in (length, *counted(message))]
        mpi, asked = self._mpi, f"Does rank {dest} receive it, with this tag"

        def may_go_on() -> bool:
            is_sent = mpi.Request.Testall(pieces)
            return bool(is_sent or self._comm.Iprobe(mpi.ANY_SOURCE, mpi.ANY_TAG))

        self._until(f"send to rank {dest}", may_go_on, [dest], asked, sends=True)
        under_way = [*self._on_their_way, (dest, pieces, length, message)]
        self._on_their_way = [each for each in under_way if not mpi.Request.Testall(each[1])]

    def _see_off(self) -> None:
        """Wait for what was sent: all ranks have come to where they receive nothing any more."""
        self.time_limit = min(self.time_limit, _LEAVE)
        for dest, pieces, *_ in self._on_their_way:
            asked = f"Has rank {dest} received it, with this tag"
            self._wait(f"send to rank {dest}", *pieces, on=(), asked=asked)
        self._on_their_way = []

    def recv_obj(self, source: int, tag: int = 0) -> Any:
        """The next object that the rank `source` sends with this `tag`."""
        self._refuse_recording("recv")
        source, length = self._peer("recv", source), np.empty(1, np.int64)
        tag = self._tag("recv", tag)
        what = f"recv from rank {source}" + (f" with tag {tag}" if tag else "")
        self._hear_waiting()
        asked = f"Does rank {source} send it, with this tag"
        self._wait(what, self._comm.Irecv(length, source, tag), on=[source], asked=asked)
        message = np.empty(int(length[0]), np.uint8)
        pieces = [self._comm.Irecv(piece, source, tag) for piece in counted(message)]
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
                for piece in counted(message)
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
        messages = {r: _packed(objs[r]) for r in to if r != self.rank}  # which may be refused
        self.tell(what)
        lengths = np.array([messages[r].size if r in messages else 0 for r in range(self.size)])
        incoming = np.empty_like(lengths)
        self._wait(what, self._comm.Ialltoall(lengths, incoming))
        found = {r: np.empty(n, np.uint8) for r, n in enumerate(incoming.tolist()) if n}
        requests = [
            begin(piece, rank, _OBJECTS)
            for begin, way in ((self._notes.Irecv, found), (self._notes.Isend, messages))
            for rank, message in way.items()
            for piece in counted(message)
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
        return self._begin_sum(buffer, self._beside.iallreduce)

    def _sum(self, buffer: Any) -> None:
        self._begin_sum(buffer, self._here.iallreduce).wait()

    def _begin_sum(self, buffer: Any, begin: Callable[[Any], Pending]) -> Pending:
        if self.size == 1:
            return Pending()
        return begin(buffer) if buffer.dtype.isnative else Swapped(buffer, begin)

    def ireduce_scatter(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to sum an array of which each rank gets a part."""
        if self.size == 1:
            return super().ireduce_scatter(buffer, bounds)
        return self._begin_sum(buffer, lambda own: self._beside.ireduce_scatter(own, bounds))

    def isum(
        self, buffer: Any, weight: float = 1.0, bounds: Sequence[int] | None = None
    ) -> Pending:
        """Begin to sum gradients, multiplied as they are written to shared memory."""
        beside = self._beside
        if isinstance(beside, SharedMemory):
            return self._begin_sum(buffer, lambda own: beside.isum(own, weight, bounds))
        return super().isum(buffer, weight, bounds)

    def iallgather(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to give every rank the parts of all."""
        return Pending() if self.size == 1 else self._here.iallgather(buffer, bounds)


class _Released:
    """What a communicator has in the place of one of MPI after `finalize`."""

    def __getattr__(self, name: str) -> Any:
        raise CommunicatorError(
            "The communicator has been released by `finalize`. Make one by create_communicator."
        )


def _packed(obj: Any) -> Any:
    """The message of an object, in one block."""
    pieces = [np.frombuffer(piece, np.uint8) for piece in encode(obj) if len(piece)]
    return np.concatenate(pieces)


def _library() -> Any:
    """mpi4py, once it has found an MPI."""
    # Else Open MPI tells for each window that it lacks a network which nobody has asked for.
    os.environ.setdefault("OMPI_MCA_opal_common_ucx_verbose", "-1")
    is_new = "mpi4py.MPI" not in sys.modules
    if is_new:
        # It takes leave of MPI in forked children as well, which the other ranks do not survive.
        need("mpi4py", "mpi", "create_communicator('mpi')").rc.finalize = False
    try:
        found = need("mpi4py.MPI", "mpi", "create_communicator('mpi')")
    except RuntimeError as error:
        raise ImportError(
            f"create_communicator('mpi') found mpi4py but no MPI: {error}. Install one, as with "
            "`pip install mpich`, or `pip install 'plugrad[mpi]'`; 'local' needs none."
        ) from error
    if is_new:
        at_end(lambda: found.Is_finalized() or found.Finalize())
    return found


mpi = naive = flat = non_cuda_aware = MpiCommunicator
