"""Sums between GPUs by NCCL, through CuPy; all else goes by MPI."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

from core.arrays import backend
from core.arrays.backend import Device, DeviceSpec
from core.errors import BackendUnavailable, CommunicatorError
from core.training import Communicator, Pending
from plugins.communicators.mpi import MpiCommunicator
from plugins.extras import need

_TYPES = {
    "float16": "NCCL_FLOAT16",
    "bfloat16": "NCCL_BFLOAT16",
    "float32": "NCCL_FLOAT32",
    "float64": "NCCL_FLOAT64",
    "int8": "NCCL_INT8",
    "uint8": "NCCL_UINT8",
    "int32": "NCCL_INT32",
    "uint32": "NCCL_UINT32",
    "int64": "NCCL_INT64",
    "uint64": "NCCL_UINT64",
}


class NcclCommunicator(MpiCommunicator):
    """MPI, with sums made between the GPUs themselves, each process having one of its own.

    The process number i of a machine takes its GPU number i; where a batch system shows each
    process one GPU alone, it takes this. Arrays on the host, and dtypes that NCCL does not know,
    are summed by MPI. Floats of 16 bits are rounded at each addition.

    Args:
        mpi_comm: A communicator of mpi4py; None for MPI.COMM_WORLD.
        gpu: The GPU of this process, if it is to be another one.
        **config: As those of `MpiCommunicator`.

    Raises CommunicatorError where there is no CuPy, no NCCL, or no GPU for each process.
    """

    def __init__(
        self, mpi_comm: Any = None, *, gpu: DeviceSpec | None = None, **config: Any
    ) -> None:
        try:
            gpus = backend.get("cuda").devices()
            nccl = need("cupy.cuda.nccl", "cuda", "create_communicator('nccl')")
        except (BackendUnavailable, ImportError) as error:
            raise CommunicatorError(
                f"create_communicator('nccl'): there is no GPU to be used here: {error} Take 'mpi' "
                "for processes without GPUs."
            ) from None
        if not getattr(nccl, "available", True):
            raise CommunicatorError(
                "create_communicator('nccl'): CuPy has found no NCCL. Install it with "
                "`pip install nvidia-nccl-cu13`, as CuPy's version of CUDA asks; 'mpi' needs none."
            )
        super().__init__(mpi_comm, **config)
        self._nccl, self._cupy = nccl, need("cupy", "cuda", "create_communicator('nccl')")
        self._gpu = self._own_of(gpus if gpu is None else [backend.get_device(gpu)])
        self._own_config["gpu"] = self._gpu  # that of communicators which are split off as well
        self._gpu.use()
        self._cupy.cuda.Device(self._gpu.id).use()  # for what is packed outside of operations
        unique = self.bcast_obj(nccl.get_unique_id() if self.rank == 0 else None)
        with self._current():
            self._between = nccl.NcclCommunicator(self.size, unique, self.rank)
            self._stream = self._cupy.cuda.Stream(non_blocking=True)

    def _own_of(self, gpus: Sequence[Device]) -> Device:
        """The GPU of this process, of those that it sees: all of its machine, or its own alone."""
        own = gpus[self.intra_rank % len(gpus)]
        place = self.inter_rank, self._cupy.cuda.Device(own.id).pci_bus_id
        places = self.allgather_obj(place)
        for rank, other in enumerate(places):
            if (first := places.index(other)) < rank:
                raise CommunicatorError(
                    "create_communicator('nccl'): expected a GPU for each process of a machine, "
                    f"but ranks {first} and {rank} would share the one at {other[1]}. Start fewer, "
                    "or take 'mpi'."
                )
        return own

    def _current(self) -> AbstractContextManager[Any]:
        """A context in which CuPy's streams and NCCL's calls are those of this process's GPU."""
        return self._gpu.backend.entered(self._gpu)

    def place_of_buffers(self, device: Device) -> Device:
        """Arrays on this process's GPU stay there."""
        return device if device == self._gpu else super().place_of_buffers(device)

    def iallreduce(self, buffer: Any) -> Pending:
        """Begin to sum an array over all ranks, in place, on a stream of its own."""
        name = backend.of(buffer).dtype_name(buffer.dtype)
        if not isinstance(buffer, self._cupy.ndarray):
            return super().iallreduce(buffer)
        if name not in _TYPES:
            host = backend.to_host(buffer)
            super().iallreduce(host).wait()
            buffer[...] = self._gpu.send(host)
            return Pending()
        with self._current():
            self._stream.wait_event(self._cupy.cuda.get_current_stream().record())
            self._between.allReduce(
                buffer.data.ptr,
                buffer.data.ptr,
                buffer.size,
                getattr(self._nccl, _TYPES[name]),
                self._nccl.NCCL_SUM,
                self._stream.ptr,
            )
            return _OnStream(self, self._stream.record(), buffer)

    isum = Communicator.isum  # which multiplies where gradients lie

    def _sum(self, buffer: Any) -> None:
        self.iallreduce(buffer).wait()

    def ireduce_scatter(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to sum an array of which each rank gets a part: all do, of different lengths."""
        if isinstance(buffer, self._cupy.ndarray):
            return Communicator.ireduce_scatter(self, buffer, bounds)
        return super().ireduce_scatter(buffer, bounds)

    def iallgather(self, buffer: Any, bounds: Sequence[int]) -> Pending:
        """Begin to give every rank the parts of all, by a broadcast of each."""
        if not isinstance(buffer, self._cupy.ndarray):
            return super().iallgather(buffer, bounds)
        with self._current():
            self._stream.wait_event(self._cupy.cuda.get_current_stream().record())
            self._nccl.groupStart()
            for root, (begin, end) in enumerate(pairwise(bounds)):
                part = buffer[begin:end].view(self._cupy.uint8)
                if part.size:
                    self._between.bcast(
                        part.data.ptr, part.size, self._nccl.NCCL_UINT8, root, self._stream.ptr
                    )
            self._nccl.groupEnd()
            return _OnStream(self, self._stream.record(), buffer)

    def finalize(self) -> None:
        """Release the communicators of NCCL and MPI."""
        with self._current():
            self._between.destroy()
        super().finalize()


class _OnStream(Pending):
    """A sum that a stream is making; its buffer lives until then."""

    def __init__(self, comm: NcclCommunicator, event: Any, buffer: Any) -> None:
        super().__init__()
        self._comm, self._event, self._buffer = comm, event, buffer

    def test(self) -> bool:
        return bool(self._event.done)

    def wait(self) -> None:
        """Let what is computed next come after the sum; the host goes on."""
        with self._comm._current():
            self._comm._cupy.cuda.get_current_stream().wait_event(self._event)


nccl = pure_nccl = hierarchical = NcclCommunicator
