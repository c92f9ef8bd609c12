"""A base whose `__init__` was forgotten is named, at the first use of what it sets."""

import numpy as np
import pytest

import core
import core.links as L
from core import iterators, optimizers, training
from core.dataset import DatasetMixin, tabular
from core.datasets import TransformDataset
from core.errors import MissingInit
from core.training import extensions

DATA = [(np.zeros(2, "f"), np.zeros(2, "f"))]


def linear():
    return L.Linear(2, 2)


def in_scope(link):
    with link.init_scope():
        pass


def in_training(updater):
    training.Trainer(updater, (1, "iteration"))


def updated(rule):
    parameter = core.Parameter(0, (2,))
    parameter.grad = np.zeros(2, "f")
    parameter.update_rule = rule
    rule.enabled = True
    parameter.update()


Rule = type(optimizers.SGD().create_update_rule())

CASES = [
    (core.Link, lambda link: optimizers.SGD().setup(link)),
    (core.Link, in_scope),
    (core.Link, lambda link: link.add_param("W", (2,))),
    (core.Link, lambda link: core.Chain(a=link).to_cpu()),
    (core.Chain, lambda link: optimizers.SGD().setup(link)),
    (core.Chain, lambda link: link.add_link("a", linear())),
    (core.ChainList, lambda link: link.append(linear())),
    (core.ChainDict, lambda link: link.update(a=linear())),
    (core.Sequential, lambda link: link.append(linear())),
    (core.Sequential, lambda link: link(1)),
    (core.GradientMethod, lambda optimizer: repr(optimizer)),
    (optimizers.Adam, lambda optimizer: setattr(optimizer, "alpha", 0.1)),
    (optimizers.Adam, lambda optimizer: optimizer.setup(linear())),
    (Rule, updated),
    (training.StandardUpdater, in_training),
    (training.StandardUpdater, lambda updater: updater.update()),
    (extensions.Evaluator, lambda evaluator: evaluator()),
    (extensions.LogReport, lambda report: report.log),
    (extensions.ExponentialShift, lambda shift: shift.init),
    (iterators.SerialIterator, next),
    (iterators.SerialIterator, lambda iterator: iterator.epoch),
    (iterators.MultithreadIterator, next),
    (training.Trainer, lambda trainer: trainer.extend(abs)),
    (training.Trainer, lambda trainer: trainer.run()),
    (tabular.DelegateDataset, len),
    (TransformDataset, len),
]


@pytest.mark.parametrize(("base", "use"), CASES)
def test_a_forgotten_init_is_named(base, use):
    def nothing(self):
        pass

    forgetful = type("Forgetful", (base,), {"__init__": nothing})()
    with pytest.raises(MissingInit, match=r"Forgetful: super\(\).__init__\(\) has not been called"):
        use(forgetful)


@pytest.mark.parametrize(
    "base", [core.Optimizer, training.Extension, training.Updater, core.dataset.Iterator]
)
def test_a_base_that_sets_nothing_need_not_be_called(base):
    assert base.__init__ is object.__init__
    assert DatasetMixin.__init__ is object.__init__
