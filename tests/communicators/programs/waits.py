"""Ranks that wait: for sums in which others have a part, and for each other in a ring."""

import numpy as np

from core.communicators import create_communicator
from plugins.communicators import mpi, shared_memory

world = create_communicator("mpi", time_limit=20)


def others_wait_elsewhere(comm, apart):
    """Rank 0 goes on to what the others come to after the sum, here and among other ranks."""
    for after in (comm.barrier, apart.barrier, lambda: apart.iallreduce(np.ones(3)).wait()):
        x = np.full(30_000, comm.rank + 1, "f")  # in several pieces, and of ordered terms
        pending = comm.iallreduce(x)
        if comm.rank:
            pending.wait()
            after()
        else:
            after()
            pending.wait()
        assert (x == comm.size * (comm.size + 1) / 2).all()


shared_memory.RING = 4096
for is_shared in (True, False):
    pair = [create_communicator("mpi", time_limit=20, shared_memory=is_shared) for _ in "ab"]
    others_wait_elsewhere(*pair)
    for each in pair:
        each.finalize()

# A machine that has memory for none of them on one rank: all send messages, as do their parts.
real = shared_memory.is_possible
mpi.is_possible = lambda *args, **kwds: world.rank != 1
lacking = create_communicator("mpi", time_limit=20)
mpi.is_possible = real
assert type(lacking._here).__name__ == "Messages"
parts = lacking.split(0, 0)
mpi.is_possible = lambda ranks, alone=False: not alone  # memory for one of them, not for all
assert type(world.split(world.rank % 2, 0)._here).__name__ == "Messages"
mpi.is_possible = real
assert type(parts._here).__name__ == "SharedMemory"

# Each sends to the next one, more than MPI takes before it is received, then receives the first.
ring = create_communicator("mpi", time_limit=20)
to, source = (ring.rank + 1) % ring.size, (ring.rank - 1) % ring.size
for tag in (0, 4):
    ring.send(np.full(1 << 20, 10.0 * ring.rank + tag), to, tag)
for tag in (4, 0):
    assert (ring.recv(source, tag) == 10 * source + tag).all()
ring.finalize()

if world.allreduce_obj(1) == world.size and world.rank == 0:
    print(f"helped {world.size}")
