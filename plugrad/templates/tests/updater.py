import core.links as L
import numpy as np
from core import iterators, optimizers
from core.training import updaters


def test_two_steps_in_an_iteration():
    examples = [(np.ones(2, "f"), 0), (np.zeros(2, "f"), 1)]
    optimizer = optimizers.SGD(0.1).setup(L.Classifier(L.Linear(2, 2)))
    updater = updaters.Thing(iterators.SerialIterator(examples, 2), optimizer)
    updater.update()
    assert updater.iteration == 1
    assert optimizer.t == 2
