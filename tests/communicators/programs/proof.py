"""The whole proof of a communicator, and of those made of its ranks."""

import sys

from core.communicators import create_communicator
from core.testing import check_communicator

comm = create_communicator(sys.argv[1], time_limit=60)
check_communicator(comm, megabytes=float(sys.argv[2]))
if comm.size == 3:  # messages beyond what MPI counts are divided; here all of some size are
    from plugins.communicators import mpi

    mpi._PIECE = 1000
    check_communicator(comm, megabytes=0.5)
if comm.rank == 0:
    print(f"proved {comm.size} {comm.allreduce_obj(1)}")
else:
    comm.allreduce_obj(1)
