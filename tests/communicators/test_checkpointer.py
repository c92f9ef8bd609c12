"""Checkpoints of each rank, as a process alone writes them."""

import numpy as np
import pytest

import core.links as L
from core import iterators, optimizers, training
from core.communicators import create_communicator, create_multi_node_checkpointer


def trained(out, steps, path=None, resume=False):
    """The iteration that a training went on from; it keeps its two newest checkpoints."""
    optimizer = optimizers.SGD().setup(L.Classifier(L.Linear(2, 2)))
    batches = iterators.SerialIterator([(np.ones(2, "f"), 0)] * 4, 2)
    updater = training.updaters.StandardUpdater(batches, optimizer)
    trainer = training.Trainer(updater, (steps, "iteration"), out=out)
    each = create_multi_node_checkpointer("job", create_communicator("local"), 2, 1, path)
    trainer.extend(each, trigger=(1, "iteration"))
    begun = each.maybe_load(trainer) if resume else None
    trainer.run()
    return begun


def iterations(folder):
    return sorted(int(path.name.split("_")[-1]) for path in folder.glob("snapshot_job_0_*"))


def test_a_training_that_begins_anew_goes_on_with_its_own_checkpoints(tmp_path):
    trained(tmp_path, 6)
    with pytest.warns(UserWarning, match="holds results of an earlier run .snapshot_job_0_5"):
        trained(tmp_path, 3)
    assert iterations(tmp_path) == [2, 3] and iterations(tmp_path / "earlier-1") == [5, 6]
    assert trained(tmp_path, 4, resume=True) == 3
    assert iterations(tmp_path) == [3, 4]


def test_checkpoints_beside_those_of_another_training_are_kept(tmp_path):
    trained(tmp_path / "results", 6, tmp_path)
    trained(tmp_path / "others", 3, tmp_path)
    assert iterations(tmp_path) == [2, 3, 5, 6]
