"""Children that end as processes do, and ranks that go on."""

import os
import sys

from core.communicators import create_communicator

comm = create_communicator("mpi", time_limit=20)
child = os.fork()
if not child:
    sys.exit(3)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert status == 3, status
assert comm.allreduce_obj(1) == comm.size
if comm.rank == 0:
    print(f"forked {comm.size}")
