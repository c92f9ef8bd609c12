"""The whole proof of a communicator, and of those made of its ranks."""

import sys

import numpy as np

from core.communicators import create_communicator
from core.testing import check_communicator
from plugins.communicators import messages, shared_memory

comm = create_communicator(sys.argv[1], time_limit=60)
check_communicator(comm, megabytes=float(sys.argv[2]))
if comm.size == 3:  # ranks of several machines; and long arrays, which go in pieces: all do here
    messages.PIECE, shared_memory.RING = 1024, 4096
    others = [create_communicator("mpi", time_limit=60, shared_memory=x) for x in (True, False)]
    assert [type(each._here).__name__ for each in others] == ["SharedMemory", "Messages"]
    bits = []
    for each in (comm, *others):
        if each is not comm:
            check_communicator(each, megabytes=0.5)
        generator = np.random.default_rng(comm.rank)
        terms = [generator.standard_normal(5000).astype(dtype) for dtype in "efd"]
        bits.append(b"".join([total.tobytes() for total in each.allreduce(terms)]))
    assert len({*bits}) == 1, "other bits by messages than in shared memory"
    for each in others:
        each.finalize()
if comm.rank == 0:
    print(f"proved {comm.size} {comm.allreduce_obj(1)}")
else:
    comm.allreduce_obj(1)
