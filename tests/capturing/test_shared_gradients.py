"""Captured steps of gradients that are parts of one array: each parameter has its own."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.optimizer_hooks import GradientClipping, WeightDecay

R = np.random.default_rng(0)


def trained(make, loss, arrays, captured):
    """All parameters and gradients after five steps that change gradients in place."""
    model = make()
    optimizer = core.optimizers.MomentumSGD(0.1).setup(model)
    optimizer.add_hook(WeightDecay(0.01))
    optimizer.add_hook(GradientClipping(0.5))

    def step(*arrays):
        y = loss(model, *arrays)
        model.cleargrads()
        y.backward()
        optimizer.update()
        return y.array

    run = core.capture(step) if captured else step
    losses = [run(*arrays) for _ in range(5)]
    if captured:
        assert "not replayed" not in run.report(), run.report()
    found = {name: (p.array, p.grad) for name, p in sorted(model.namedparams())}
    return losses, found


def assert_alike(make, loss, *arrays):
    (losses, eager), (others, captured) = (trained(make, loss, arrays, c) for c in (False, True))
    np.testing.assert_array_equal(losses, others)
    for name, both in eager.items():
        for one, other in zip(both, captured[name], strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)


@pytest.mark.parametrize("units", [3, 4])
@pytest.mark.parametrize(
    "name",
    [
        *("NStepLSTM", "NStepGRU", "NStepRNNTanh", "NStepRNNReLU"),
        *("NStepBiLSTM", "NStepBiGRU", "NStepBiRNNTanh"),
    ],
)
def test_weights_of_gates_are_parts_of_one_product(name, units):
    def make():
        np.random.seed(1)
        return getattr(L, name)(2, 4, units, 0.0)

    def loss(link, x):
        *_, ys = link(*[None] * (2 if "LSTM" in name else 1), list(F.separate(x, axis=0)))
        return F.mean(F.concat(ys, axis=0) ** 2)

    assert_alike(make, loss, R.standard_normal((3, 5, 4)).astype("f"))


class Two(core.Chain):
    """Two parameters of other shapes, whose sum is taken."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = core.Parameter(R.standard_normal((4, 6)).astype("f"))
            self.b = core.Parameter(R.standard_normal((2, 12)).astype("f"))
            self.c = core.Parameter(R.standard_normal((6, 4)).astype("f"))


@pytest.mark.parametrize("turned", [False, True])
def test_gradients_that_are_views_of_one(turned):
    model = Two()

    def loss(m, x):
        b = m.b.reshape((4, 6)) if not turned else F.transpose(m.b.reshape((6, 4)))
        return F.sum((m.a + b + F.transpose(m.c)) * x)

    assert_alike(lambda: model.copy("copy"), loss, R.standard_normal((4, 6)).astype("f"))
