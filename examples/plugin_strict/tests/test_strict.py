"""The backend, proved, and used as any other."""

import array_api_strict
import numpy as np

import core
import core.functions as F
import core.links as L
from core import optimizers
from core.testing import check_backend, check_op


def test_what_the_core_asks_of_a_backend():
    check_backend("strict")


def test_it_is_found_by_its_name():
    assert core.backend.available()["strict"] is None
    x = core.get_device("strict").send(np.ones(2, "f"))
    assert type(x) is type(array_api_strict.asarray(0.0))


class Swish(core.Elementwise):
    """An operation of somebody else, written in the standard's words."""

    domain = core.Domain(x=core.real(-6, 6))

    def compute(self, xp, x):
        return x / (1 + xp.exp(-x))

    def gradient(self, xp, g, x):
        s = 1 / (1 + xp.exp(-x))
        return g * s * (1 + x * (1 - s))


def test_an_operation_is_proved_on_it():
    check_op(Swish, backends=["strict"])


def test_a_model_learns_what_it_learns_with_numpy():
    losses = {name: trained(name) for name in ("numpy", "strict")}
    np.testing.assert_allclose(losses["strict"], losses["numpy"], rtol=1e-4)
    assert losses["strict"][-1] < losses["strict"][0] / 2


def trained(backend):
    core.seed(0)
    model = core.Sequential(L.Linear(1, 8), F.tanh, L.Linear(8, 1))
    model.to_device(backend)
    optimizer = optimizers.Adam(alpha=0.05).setup(model)
    x = core.get_device(backend).send(np.linspace(-2, 2, 32, dtype="f")[:, None])
    losses = []
    for _ in range(30):
        loss = F.mean_squared_error(model(x), F.sin(x))
        optimizer.update(lambda loss=loss: loss)
        losses.append(loss.item())
    return losses
