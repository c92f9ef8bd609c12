"""A job of one process: the same script without `mpiexec`."""

from __future__ import annotations

from typing import Any, Self

from core.errors import CommunicatorError
from core.errors.kinds import checked
from core.training import Communicator


class LocalCommunicator(Communicator):
    """The communicator of a process alone: rank 0 of 1.

    It takes the arguments of `mpi`, though it waits for nobody and shares nothing.

    >>> import numpy as np
    >>> comm = LocalCommunicator()
    >>> comm.allgather(np.ones(2, "f")), comm.split(0, 0).size
    ((array([1., 1.], dtype=float32),), 1)
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
        if mpi_comm is not None and mpi_comm.Get_size() > 1:
            raise CommunicatorError(
                "create_communicator: 'local' is for one process, but mpi_comm has "
                f"{mpi_comm.Get_size()}. Take 'mpi'."
            )
        super().__init__(0, 1, **config)

    def send_obj(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Raises CommunicatorError: there is nobody to send to."""
        self._peer("send", dest)

    def recv_obj(self, source: int, tag: int = 0) -> Any:
        """Raises CommunicatorError: there is nobody to receive from."""
        self._peer("recv", source)

    def split(self, color: int | None, key: int) -> Self | None:
        """Itself: there is nothing to be divided."""
        return None if color is None else self


local = LocalCommunicator
