"""A rank of a job of plugrad's, which `mpiexec` has started: measures what rank 0 is asked for."""

import json
import sys
import tracemalloc
from statistics import median
from time import perf_counter

import numpy as np

import core
import core.functions as F
import core.links as L
from benchmarks.alpha_beta import LAYERS, NETWORKS, SIMULATED, seconds
from core import optimizers
from core.communicators import create_communicator, create_multi_node_optimizer
from core.training import Buckets, Pending

BATCH, SIZES = 128, LAYERS
comm = create_communicator("mpi")
dummy = create_communicator("dummy")


class Simulated(type(dummy)):
    """Sums that end, one after the other, when a network would have made them."""

    free = 0.0

    def iallreduce(self, buffer):
        ring = seconds(SIMULATED[0], buffer.nbytes, "ring", NETWORKS[SIMULATED[1]])
        Simulated.free = max(Simulated.free, perf_counter()) + ring
        return Ending(self.free)


class Ending(Pending):
    """What ends at a time."""

    def __init__(self, when):
        super().__init__()
        self.when = when

    def test(self):
        return perf_counter() >= self.when

    def wait(self):
        while not self.test():
            pass


simulated = Simulated()
generator = np.random.default_rng(comm.rank)


def network(sizes=SIZES):
    layers = [L.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
    between = [layer for each in layers[:-1] for layer in (each, F.relu)]
    model = L.Classifier(core.Sequential(*between, layers[-1]))
    model.compute_accuracy = False
    return model


def training(batch, through, sizes=SIZES, make=lambda: optimizers.MomentumSGD(0.01), **how):
    """A call that makes one step."""
    core.seed(0)
    model = network(sizes)
    optimizer = make()
    if through is not None:
        optimizer = create_multi_node_optimizer(optimizer, through, **how)
    optimizer.setup(model)
    x = generator.standard_normal((batch, sizes[0])).astype("f")
    t = generator.integers(0, sizes[-1], batch).astype("i")
    return lambda: optimizer.update(model, x, t)


CALLS = {
    "strong": lambda: training(BATCH // comm.size, comm if comm.size > 1 else None),
    "weak": lambda: training(BATCH, comm if comm.size > 1 else None),
    "weak, no exchange": lambda: training(BATCH, dummy),
    "weak, simulated": lambda: training(BATCH, simulated),
}
made = {}


def steps(case, count):
    """Seconds of a step."""
    if case not in made:
        made[case] = CALLS[case]()
        for _ in range(3):
            made[case]()
    comm.barrier()
    begin = perf_counter()
    for _ in range(count):
        made[case]()
    comm.barrier()
    return (perf_counter() - begin) / count


def exchange(sizes, count):
    """Seconds of a bare Allreduce of so many numbers, and of the exchange of such gradients."""
    model = core.ChainList(*[Vector(size) for size in sizes])
    sums = Buckets(comm, [*model.params()])
    bare, own = [], []
    for _ in range(count + 1):
        buffer = np.ones(sum(sizes), "f")  # both begin with what has just been computed
        comm._comm.Barrier()
        begin = perf_counter()
        comm._comm.Allreduce(comm._mpi.IN_PLACE, buffer)
        bare.append(perf_counter() - begin)
        for p in model.params():
            p.grad = np.ones(p.shape, "f")  # nobody else holds it, as after a backward
        comm._comm.Barrier()
        begin = perf_counter()
        sums.allreduce(1 / comm.size)
        own.append(perf_counter() - begin)
    return [max(comm.allgather_obj(median(times[1:]))) for times in (bare, own)]


class Vector(core.Link):
    """A parameter."""

    def __init__(self, size):
        super().__init__()
        with self.init_scope():
            self.W = core.Parameter(np.zeros(size, "f"))


def memory(width, layers, sharded):
    """Bytes of arrays, at most, in a step of Adam; and those of the parameters."""
    tracemalloc.start()
    sizes = (width,) * (layers + 1)
    step = training(8, comm, sizes, optimizers.Adam, shard_state=sharded)
    for _ in range(2):
        step()
    tracemalloc.reset_peak()
    step()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return [max(comm.allgather_obj(most)), 4 * layers * width * (width + 1)]


def main():
    while True:
        asked = comm.bcast_obj(sys.stdin.readline() if comm.rank == 0 else None)
        if not asked.strip():
            return
        name, *arguments = json.loads(asked)
        answer = {"steps": steps, "exchange": exchange, "memory": memory}[name](*arguments)
        if comm.rank == 0:
            print(json.dumps(answer), flush=True)


main()
