"""An exception that nobody catches on one rank ends all of them."""

from __future__ import annotations

import socket
import sys
import time
from types import TracebackType
from typing import Any

from plugins.communicators.watched import leave
from plugins.communicators.watcher import ENDING

_previous = None


def add_hook() -> None:
    """Let an uncaught exception end the whole job, named by rank and machine.

    Otherwise the other ranks would wait for the one that is gone. `create_communicator('mpi')`
    calls this by itself. In debuggers and notebooks, which have hooks of their own, it changes
    nothing but what follows on them. It needs mpi4py to be loaded already.
    """
    global _previous
    if _previous is None:
        _previous, sys.excepthook = sys.excepthook, _end_all


def _end_all(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
    (_previous or sys.__excepthook__)(kind, error, tb)
    module = sys.modules.get("mpi4py.MPI")
    if module is None or not module.Is_initialized() or module.Is_finalized():
        return
    world = module.COMM_WORLD
    if world.Get_size() > 1:
        end_all(
            world,
            f"{kind.__name__} on rank {world.Get_rank()} of {world.Get_size()} on "
            f"{socket.gethostname()}, which ends all ranks.",
        )


def end_all(world: Any, reason: str) -> None:
    """Print the reason and end all processes of a job.

    Launchers pass on what ranks print, and lose what they have not passed on when a job is ended.
    """
    leave(ENDING)
    print(reason, file=sys.stderr, flush=True)
    time.sleep(0.5)
    world.Abort(1)
