"""Scalars of NumPy, as its means are, where communicators expect arrays or numbers."""

from types import SimpleNamespace

import numpy as np

import core
import core.links as L
from core.communicators import (
    AllreducePersistent,
    ObservationAggregator,
    create_communicator,
    create_multi_node_evaluator,
    create_multi_node_optimizer,
)
from core.iterators import SerialIterator
from core.training import extensions

comm = create_communicator("local")


class Means(extensions.Evaluator):
    def evaluate(self):
        return {"mean": np.mean([1.0, 2.0]), "array": np.full((), 3, "f")}


def test_an_evaluation_may_find_them():
    alone = Means(SerialIterator([1], 1, repeat=False), L.Linear(1, 1))
    assert create_multi_node_evaluator(alone, comm)() == {"mean": 1.5, "array": 3}


def test_they_may_be_observed():
    trainer = SimpleNamespace(observation={"x": np.mean([1.0, 2.0])}, updater=None)
    ObservationAggregator(comm, "x", comm_trigger=lambda trainer: True)(trainer)
    assert trainer.observation == {"x": 1.5}


def test_links_may_keep_them():
    model = core.ChainList(L.Linear(2, 1))
    model.add_persistent("mean", np.mean([1.0, 2.0]))
    optimizer = create_multi_node_optimizer(core.optimizers.SGD(), comm).setup(model)
    optimizer.update(lambda x: core.functions.sum(model[0](x)), np.ones((1, 2), "f"))
    AllreducePersistent(model, comm)()
    assert model.mean == 1.5
