"""Parts of datasets, iterators that go on alike, evaluators and extensions, on all ranks."""

import os
import tempfile
import warnings
from types import SimpleNamespace

import numpy as np

import core
import core.links as L
from core import communicators as chainermn
from core import iterators, optimizers, training
from core.communicators import create_communicator
from core.errors import CommunicatorError
from core.training import updaters

comm = create_communicator("mpi", time_limit=60)
rank, size = comm.rank, comm.size
DATA = [chr(97 + i) for i in range(10)]


def datasets():
    for given in (DATA, DATA if rank == 0 else None):
        part = chainermn.scatter_dataset(given, comm, shuffle=True, seed=1)
        lengths = comm.allgather_obj(len(part))
        assert lengths == [-(-10 // size)] * size
        assert {*sum(comm.allgather_obj(part[:]), [])} == {*DATA}
        exact = chainermn.scatter_dataset(given, comm, shuffle=True, force_equal_length=False)
        assert sorted(sum(comm.allgather_obj(exact[:]), [])) == DATA
    orders = []
    for _ in range(2):
        core.seed(rank)
        orders.append(chainermn.scatter_dataset(DATA, comm, shuffle=True)[:])
    core.seed(None)
    assert orders[0] == orders[1], "another run gives another order"
    assert chainermn.scatter_index(10, comm)[0] == 10 * rank // size
    assert len(chainermn.create_empty_dataset(DATA)) == 10
    trigger = chainermn.get_epoch_trigger(2, part, 3, comm)
    assert trigger == (2 * max(-(-length // 3) for length in lengths), "iteration")
    for bad, few in (([], {}), (DATA[: size - 1], {"force_equal_length": False})):
        try:
            chainermn.scatter_dataset(bad, comm, **few)
        except chainermn.DataSizeError as error:
            assert "expected an example" in str(error)
        else:
            raise AssertionError(bad)


def iterators_():
    own = iterators.SerialIterator([rank * 100 + i for i in range(5)], 2, repeat=False)
    batches = list(chainermn.create_multi_node_iterator(own, comm, size - 1))
    assert len(batches) == 3 and len({*map(str, comm.allgather_obj(batches))}) == 1
    assert sorted(sum(batches, [])) == [(size - 1) * 100 + i for i in range(5)]

    class Arrays(core.dataset.Iterator):
        def __next__(self):
            return {"x": np.full((2, 3), rank), "t": np.arange(2)}

    batch = chainermn.create_multi_node_iterator(Arrays(), comm, size - 1).next()
    assert {*batch} == {"x", "t"} and batch["x"].tolist() == [[size - 1] * 3] * 2

    core.seed(rank)
    alike = chainermn.create_synchronized_iterator(iterators.SerialIterator(DATA, 3), comm)
    seen = [alike.next() for _ in range(9)]
    assert len({*map(str, comm.allgather_obj(seen))}) == 1
    core.seed(None)

    each = chainermn.PartitionedIterator(DATA, max(4, size), comm, repeat=False)
    assert sorted(sum(comm.allgather_obj(sum(each, [])), [])) == DATA
    if size > 1:
        try:
            chainermn.PartitionedIterator(DATA, size - 1, comm)
        except CommunicatorError as error:
            assert "at least" in str(error)
        else:
            raise AssertionError


class Counting(chainermn.GenericMultiNodeEvaluator):
    def calc_local(self, x):
        return float(x.sum())

    def aggregate(self, results):
        return {"largest": max(results), "count": len(results)}


class Own(training.extensions.Evaluator):
    def evaluate(self):
        return {"rank": rank}


def evaluators():
    part = np.full((2, 1), rank, "f")
    batches = iterators.SerialIterator(part, 1, repeat=False, shuffle=False)
    begun = []
    counting = Counting(comm, batches, L.Linear(1, 1), eval_hook=begun.append)
    assert counting() == {"largest": size - 1, "count": 2 * size} and begun == [counting]

    # What an `evaluate` of one's own finds counts by the examples of the part.
    batches = iterators.SerialIterator(range(rank + 1), 1, repeat=False, shuffle=False)
    found = chainermn.create_multi_node_evaluator(Own(batches, L.Linear(1, 1)), comm)()
    weights = range(1, size + 1)
    assert found == {"rank": sum(w * r for r, w in enumerate(weights)) / sum(weights)}

    # Each value counts as it would in one process with all examples.
    words = [np.arange(n, dtype="f") + n for n in range(1, 2 * size + 2)]
    part = chainermn.scatter_dataset(words, comm, force_equal_length=False)
    alone, together = [
        Longest(iterators.SerialIterator(data, 2, repeat=False, shuffle=False), Words(), list_of)
        for data in (words, part)
    ]
    expected, found = alone(), chainermn.create_multi_node_evaluator(together, comm)()
    assert found.pop("most") <= expected.pop("most")  # what is no mean counts by examples
    assert found.keys() == expected.keys() == {"main/mean", "main/of some"}
    np.testing.assert_allclose([*found.values()], [*expected.values()], rtol=1e-6)


class Words(core.Link):
    def forward(self, words):
        total, count = sum(word.sum() for word in words), sum(map(len, words))
        core.report({"mean": (total / count, count)}, self)
        if total > 10:
            core.report({"of some": total}, self)


class Longest(training.extensions.Evaluator):
    def evaluate(self):
        return {**super().evaluate(), "most": max(map(len, self.get_iterator("main").dataset))}


def list_of(batch, device):
    return (batch,)


def trainer_of(steps, out):
    model = L.Classifier(L.Linear(2, 2))
    optimizer = chainermn.create_multi_node_optimizer(optimizers.SGD(0.1), comm).setup(model)
    examples = [(np.ones(2, "f") * i, i % 2) for i in range(6)]
    batches = iterators.SerialIterator(examples, 2)
    updater = updaters.StandardUpdater(batches, optimizer)
    return training.Trainer(updater, (steps, "iteration"), out=out), model


def extensions_():
    out = comm.bcast_obj(tempfile.mkdtemp() if rank == 0 else None)
    trainer, model = trainer_of(4, out)
    trainer.extend(
        chainermn.create_multi_node_checkpointer("job", comm, 2, 1), trigger=(1, "iteration")
    )
    trainer.run()
    comm.barrier()
    kept = [name for name in os.listdir(out) if name.startswith(f"snapshot_job_{rank}_")]
    assert sorted(kept) == [f"snapshot_job_{rank}_{i}" for i in (3, 4)], kept
    if rank == size - 1:
        os.unlink(f"{out}/snapshot_job_{rank}_4")
    comm.barrier()
    trainer, _ = trainer_of(6, out)
    again = chainermn.create_multi_node_checkpointer("job", comm)
    trainer.extend(again)
    assert again.maybe_load(trainer) == 3 == trainer.updater.iteration
    trainer.run()
    comm.barrier()
    if rank > 0:  # as in a job that fewer ranks have saved
        for name in os.listdir(out):
            if name.startswith(f"snapshot_job_{rank}_"):
                os.unlink(f"{out}/{name}")
    comm.barrier()
    trainer, _ = trainer_of(6, out)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = again.maybe_load(trainer)
    assert (found is None) == (size > 1), found
    others = f"ranks {[*range(1, size)]} have none"
    assert sum(others in str(each.message) for each in told) == (rank == 0 < size - 1)

    norm = L.BatchNormalization(2)
    norm.avg_mean[...] = rank
    chainermn.AllreducePersistent(norm, comm)()
    assert norm.avg_mean.tolist() == [(size - 1) / 2] * 2

    seen = SimpleNamespace(observation={"x": float(rank)})
    chainermn.ObservationAggregator(comm, "x", "all", aggregator=lambda each: each)(
        SimpleNamespace(observation=seen.observation, updater=SimpleNamespace(iteration=1))
    )
    assert seen.observation["all"] == [[float(r)] for r in range(size)]

    # Alone, rank 0 would stop earlier than the others.
    stop = chainermn.MultiNodeEarlyStoppingTrigger(
        comm, lambda trainer: True, "loss", 2, max_trigger=lambda trainer: False
    )
    fired = []
    for i, loss in enumerate((3.0, 2.0, 2.5, 2.6, 2.7)):
        own = loss if rank == 0 else -i * 10.0
        updater = SimpleNamespace(iteration=i + 1)
        fired.append(stop(SimpleNamespace(observation={"loss": own}, updater=updater)))
    assert fired == [size == 1 and i >= 3 for i in range(5)], fired


datasets()
iterators_()
evaluators()
extensions_()
comm.barrier()
if rank == 0:
    print(f"divided {size}")
