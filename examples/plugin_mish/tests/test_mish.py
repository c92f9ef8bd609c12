"""Mish, proved by its domain; the rest by use."""

import numpy as np
from plugrad_mish.mish import Mish

import core
import core.functions as F
import core.links as L
from core import optimizers
from core.testing import check_op


def test_mish():
    check_op(Mish, reference=lambda x: x * np.tanh(np.log1p(np.exp(x))))


def test_it_is_found_by_its_name():
    assert F.mish(np.ones(1, "f")).array[0] == np.float32(0.8650984)


def test_a_model_of_it_learns():
    core.seed(0)
    model = core.Sequential(L.LinearMish(None, 8), L.Linear(8, 1))
    optimizer = optimizers.Signum(lr=0.01).setup(model)
    x = np.linspace(-2, 2, 32, dtype="f")[:, None]
    losses = []
    for _ in range(200):
        loss = F.mean_squared_error(model(x), np.sin(x))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10
