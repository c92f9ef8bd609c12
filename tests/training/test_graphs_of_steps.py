"""The graphs that dump_graph writes of steps that are captured, accumulated and resumed."""

import numpy as np
import pytest
import small

import core
import core.functions as F
import core.links as L
from core import iterators, optimizers, training
from core.training import extensions

W = np.linspace(-1, 1, 20, dtype="f").reshape(5, 4)


def trainer(out, stop=6, trigger=None, **options):
    """Of a model without dropout, whose steps may be captured."""
    model = L.Classifier(core.Sequential(L.Linear(4, 5, initialW=W), F.tanh))
    batches = iterators.SerialIterator(small.data(), 8, shuffle=False)
    optimizer = optimizers.SGD().setup(model)
    updater = training.updaters.StandardUpdater(batches, optimizer, **options)
    made = training.Trainer(updater, (stop, "iteration"), out)
    made.extend(extensions.LogReport(trigger=(1, "iteration")))
    made.extend(extensions.dump_graph("main/loss"), trigger=trigger)
    return made


def losses(made):
    made.run(show_loop_exception_msg=False)
    return [record["main/loss"] for record in made.get_extension("LogReport").log]


@pytest.mark.parametrize("trigger", [None, (3, "iteration")])
@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("capture", [False, True])
def test_a_graph_has_all_parts_of_a_step(tmp_path, trigger, accumulate, capture):
    options = {"accumulate": accumulate, "capture": capture}
    made = trainer(tmp_path / "out", trigger=trigger, **options)
    found = losses(made)
    text = (tmp_path / "out" / "cg.dot").read_text()
    assert text.count("SoftmaxCrossEntropy") == accumulate
    assert not capture or made.updater.captured.replayed
    expected = losses(trainer(tmp_path / "other", trigger=lambda trainer: False, **options))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("capture", [False, True])
def test_a_resumed_run_leaves_the_graph_that_was_written(tmp_path, capture):
    flags = []
    for stop in (3, 6):
        made = trainer(tmp_path, stop, capture=capture)
        made.extend(extensions.snapshot(autoload=True), trigger=(1, "iteration"))
        made.extend(lambda trainer: flags.append(core.config.keep_graph_on_report), priority=500)
        losses(made)
        assert "SoftmaxCrossEntropy" in (tmp_path / "cg.dot").read_text()
    assert flags == [True] + [False] * 5
