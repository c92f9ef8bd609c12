"""Ranks of which some share a machine: where they are, and what they add up, near and far."""

import numpy as np

from core.communicators import create_communicator

comm = create_communicator("mpi", time_limit=60)
machine = comm.where.rpartition(" ")[2]
machines = comm.allgather_obj(machine)
names = sorted({*machines}, key=machines.index)
assert comm.inter_size == len(names) == 2, names
assert comm.inter_rank == names.index(machine)
assert comm.intra_size == machines.count(machine)
assert comm.intra_rank == machines[: comm.rank].count(machine)

# Ranks of one machine have memory in common, and those of two have not.
within, between = comm.split(comm.inter_rank, comm.rank), comm.split(comm.intra_rank, comm.rank)
kinds = [type(each._here).__name__ for each in (comm, within, between)]
shared = "SharedMemory" if within.size > 1 else "Messages"
assert kinds == ["Messages", shared, "Messages"], kinds

x = np.random.default_rng(comm.rank).standard_normal(100_000).astype("f")
everywhere = [x.copy() for _ in range(3)]
for each in everywhere:  # to the bit, as often as one likes
    comm.iallreduce(each).wait()
terms = comm.allgather(x)
ordered = terms[0].copy()
for term in terms[1:]:
    ordered += term
assert all(np.array_equal(each, ordered) for each in everywhere)
parts = within.allreduce(x.astype("d"))
if within.size < comm.size > between.size > 1:
    assert np.allclose(between.allreduce(parts), ordered, atol=1e-5)
if comm.rank == 0:
    print("placed", *machines)
