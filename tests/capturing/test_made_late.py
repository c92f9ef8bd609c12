"""Parameters that get their arrays with the first input, where that comes after a recording."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import iterators
from core.training import extensions

X = np.linspace(-1, 1, 8, dtype="f").reshape(2, 4)


@pytest.fixture(autouse=True)
def no_seed():
    """The stream of the process is as it was."""
    yield
    core.seed(None)


class Grown(core.Chain):
    """A second layer, which is used from some call on."""

    def __init__(self, second):
        super().__init__(first=L.Linear(4, 4), second=second)
        self.is_deep = False

    def forward(self, x):
        y = self.first(x)
        return self.second(y) if self.is_deep else y


def trained(second, capture):
    """Losses, the parameters of the end, and how many calls were replayed."""
    core.seed(0)
    model = Grown(second())
    sharing = model.second.copy()
    optimizer = core.optimizers.MomentumSGD(0.1).setup(model)

    def step(x):
        loss = F.mean(model(x) ** 2)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    run, losses = capture(step), []
    for i in range(8):
        model.is_deep = i > 3
        losses.append(float(run(X).array))
    pairs = zip(sharing.params(), model.second.params(), strict=True)
    assert all([one.array is other.array for one, other in pairs])
    return losses, [p.array for p in model.params()], run


@pytest.mark.parametrize(
    "second",
    [
        lambda: L.Linear(None, 3),
        lambda: core.Sequential(L.BatchNormalization(), L.Linear(None, 3), L.Linear(None, 2)),
    ],
)
def test_they_are_made_by_a_call_that_runs_as_it_is(second):
    losses, parameters, _ = trained(second, lambda step: step)
    found, held, captured = trained(second, core.capture)
    assert found == losses
    for one, other in zip(held, parameters, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (captured.replayed, captured.reasons) == (6, [])


def test_an_evaluation_may_be_what_makes_them():
    def evaluated(capture):
        core.seed(0)
        model = L.Classifier(core.Sequential(L.Linear(None, 5), F.relu, L.Linear(None, 3)))
        data = [(x, np.int32(i)) for i, x in enumerate(X)] * 3
        batches = iterators.SerialIterator(data, 2, repeat=False, shuffle=False)
        evaluate = extensions.Evaluator(batches, model, capture=capture)
        return [evaluate() for _ in range(2)], evaluate.captured

    expected, _ = evaluated(False)
    found, captured = evaluated(True)
    assert found == expected
    assert captured.replayed == 5
