"""A small training, for what trainers refuse."""

import numpy as np
import pytest

import core.links as L
from core import datasets, iterators, optimizers, training


@pytest.fixture
def make_trainer(tmp_path):
    def make(*extensions, model=None, stop=(1, "epoch"), out=tmp_path / "result"):
        optimizer = optimizers.MomentumSGD().setup(model or L.Classifier(L.Linear(3, 2)))
        examples = datasets.TupleDataset(
            np.arange(12, dtype="f").reshape(4, 3), np.zeros(4, "int32")
        )
        updater = training.updaters.StandardUpdater(
            iterators.SerialIterator(examples, 2), optimizer
        )
        return training.Trainer(updater, stop, out, extensions)

    return make


@pytest.fixture
def trainer(make_trainer):
    return make_trainer()
