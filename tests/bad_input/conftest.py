"""A small training, for what trainers refuse."""

import numpy as np
import pytest

import core.links as L
from core import datasets, iterators, optimizers, training


def make_trainer(out, model=None, stop=(1, "epoch")):
    model = model or L.Classifier(L.Linear(3, 2))
    optimizer = optimizers.MomentumSGD().setup(model)
    examples = datasets.TupleDataset(np.arange(12, dtype="f").reshape(4, 3), np.zeros(4, "int32"))
    batches = iterators.SerialIterator(examples, 2)
    return training.Trainer(training.updaters.StandardUpdater(batches, optimizer), stop, out)


@pytest.fixture
def trainer(tmp_path):
    return make_trainer(tmp_path)
