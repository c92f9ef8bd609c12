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
    with_memory = comm.intra_size == comm.size
    ways = (True, True, False) if with_memory else (False,)
    others = [create_communicator("mpi", time_limit=60, shared_memory=x) for x in ways]
    kinds = ["SharedMemory", "SharedMemory", "Messages"] if with_memory else ["Messages"]
    assert [type(each._here).__name__ for each in others] == kinds
    if with_memory:  # sums by shares beside those that each rank makes for itself
        for sums in (others[0]._here, others[0]._beside):
            sums._kind_of_sum = lambda nbytes: (
                shared_memory._Sum if nbytes % 3 else shared_memory._SumByEach
            )
    bits = []
    for each in (comm, *others):
        if each is not comm:
            check_communicator(each, megabytes=0.5)
        generator = np.random.default_rng(comm.rank)
        terms = [generator.standard_normal(5000).astype(dtype) for dtype in "efd"]
        found = [total.tobytes() for total in each.allreduce(terms)]
        many = [generator.standard_normal(n).astype("f") for n in (7, 900, 30, 0, 4000, 3, 2999)]
        pending = [each.iallreduce(array) for array in many]  # under way at once
        for one in reversed(pending):
            one.wait()
        bits.append(b"".join([*found, *[array.tobytes() for array in many]]))
    assert len({*bits}) == 1, "other bits by messages than in shared memory"
    for each in others:
        each.finalize()
if comm.rank == 0:
    print(f"proved {comm.size} {comm.allreduce_obj(1)}")
else:
    comm.allreduce_obj(1)
