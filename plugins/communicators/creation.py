"""The one call by which scripts get their communicator."""

from __future__ import annotations

from typing import Any

import core
from core import registry
from core.errors import CommunicatorError
from core.errors.kinds import checked
from core.training import Communicator


@checked
def create_communicator(
    communicator_name: str = "mpi", mpi_comm: Any = None, **config: Any
) -> Communicator:
    """Make the communicator of this process.

    Args:
        communicator_name: `mpi` (`naive`, `flat` and `non_cuda_aware` are other names of it) for
            processes that `mpiexec` has started, on one machine or many; `nccl` (`pure_nccl`,
            `hierarchical`) for GPUs; `local` for a process alone, of rank 0 and size 1; `dummy`,
            which exchanges no gradients, to time the rest; or a name that a plugin gives.
        mpi_comm: The communicator of mpi4py whose processes take part; None for all of them.
        **config: Settings (see `core.training.Communicator.set_config`), and arguments of the
            communicator, such as the `time_limit` in seconds for which a process waits for others.

    Collective: all processes call it. Raises CommunicatorError, on each of them, where they run
    different versions or plugins, and ImportError where a library is missing.

    >>> comm = create_communicator("local")
    >>> comm.rank, comm.size, comm.allreduce_obj(3)
    (0, 1, 3)
    """
    make = registry.catalogue("communicators").get(communicator_name)
    if not (isinstance(make, type) and issubclass(make, Communicator)):
        raise CommunicatorError(
            f"create_communicator: expected the name of a communicator, such as 'mpi' or 'local'; "
            f"{communicator_name!r} is none."
        )
    arguments: dict[str, Any] = {"mpi_comm": mpi_comm, **config}
    made = make(**arguments)
    made.compare("create_communicator", _installed())
    return made


def _installed() -> list[str]:
    """What runs here, which has to be the same everywhere."""
    plugins = {str(plugin) for plugin in registry.installed.plugins()}
    return [f"plugrad {core.__version__}", *sorted(plugins)]
