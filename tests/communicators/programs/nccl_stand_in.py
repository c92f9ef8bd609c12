"""The communicator of GPUs on the host: what it calls of CuPy and NCCL is made by MPI.

The methods of the stand-ins have the arguments that CuPy's documentation gives them.
"""

import ctypes
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
from mpi4py import MPI

from core.arrays import backend
from core.errors import CommunicatorError
from core.testing import check_communicator
from plugins.communicators import nccl
from plugins.communicators.messages import Swapped
from plugins.communicators.mpi import MpiCommunicator

calls, inside = [], []
DTYPES = {name: i for i, name in enumerate(nccl._TYPES)}


class Array(np.ndarray):
    """An array that gives its address as CuPy's do."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


class Between:
    """As `cupy.cuda.nccl.NcclCommunicator`."""

    def __init__(self, ndev, commId, rank):
        self._comm = MPI.COMM_WORLD.Dup()
        assert (ndev, rank) == (self._comm.Get_size(), self._comm.Get_rank())
        assert {*self._comm.allgather(commId)} == {commId}

    def allReduce(self, sendbuf, recvbuf, count, datatype, op, stream):
        assert sendbuf == recvbuf and op == "sum" and stream == 7
        calls.append("allReduce")
        parts = self._comm.allgather(found(sendbuf, count, datatype).copy())
        found(recvbuf, count, datatype)[...] = sum(parts[1:], parts[0])

    def bcast(self, buff, count, datatype, root, stream):
        assert stream == 7 and calls[-1] in ("groupStart", "bcast")
        calls.append("bcast")
        self._comm.Bcast(found(buff, count, datatype), root)

    def destroy(self):
        calls.append("destroy")


def found(address, count, datatype):
    """The elements at an address."""
    dtype = np.dtype([*nccl._TYPES][datatype])
    text = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(text, dtype)


@contextmanager
def entered(device):
    """The context of the host's device, in which all that is asked of a GPU has to be asked."""
    inside.append(device)
    try:
        yield
    finally:
        inside.pop()


def current_stream():
    assert inside, "the stream of another GPU than this process's"
    return Stream()


class Stream:
    ptr = 7

    def record(self):
        return SimpleNamespace(done=True)

    def wait_event(self, event):
        assert event.done


class Seen:
    """The one GPU that a batch system shows a process."""

    number = MPI.COMM_WORLD.Get_rank()

    def __init__(self, id):
        self.pci_bus_id = f"0000:0{Seen.number}:00.0"


class StandIn(nccl.NcclCommunicator):
    """The same, whose GPU is the host."""

    def __init__(self):
        MpiCommunicator.__init__(self, time_limit=60)
        constants = {nccl._TYPES[name]: number for name, number in DTYPES.items()}
        start, end = (lambda name=name: calls.append(name) for name in ("groupStart", "groupEnd"))
        self._nccl = SimpleNamespace(
            NCCL_SUM="sum", groupStart=start, groupEnd=end, **constants
        )  # fmt: skip
        cuda = SimpleNamespace(get_current_stream=current_stream, Device=Seen)
        self._cupy = SimpleNamespace(ndarray=Array, uint8=np.uint8, cuda=cuda)
        self._gpu = self._own_of([backend.host().default_device()])
        self._between = Between(self.size, self.bcast_obj(self.rank), self.rank)
        self._stream = Stream()

    def split(self, color, key):
        self.tell("split")
        part = self._comm.Split(MPI.UNDEFINED if color is None else color, key)
        return None if part == MPI.COMM_NULL else MpiCommunicator(part, **self._own_config)

    def iallreduce(self, buffer):
        if not buffer.dtype.isnative:  # which no array on a GPU is
            return Swapped(buffer, self.iallreduce)
        return super().iallreduce(buffer.view(Array))

    def ireduce_scatter(self, buffer, bounds):
        return super().ireduce_scatter(buffer.view(Array), bounds)

    def iallgather(self, buffer, bounds):
        return super().iallgather(buffer.view(Array), bounds)


backend.host().entered = entered
comm = StandIn()
check_communicator(comm, megabytes=1)
assert {"allReduce", "bcast", "groupEnd"} <= {*calls}
Seen.number = 0
try:
    comm._own_of([backend.host().default_device()])
except CommunicatorError as error:
    assert "ranks 0 and 1 would share the one at 0000:00:00.0" in str(error), error
else:
    assert comm.size == 1
comm.finalize()
assert calls[-1] == "destroy"
if comm.rank == 0:
    print(f"stood in {comm.size}")
