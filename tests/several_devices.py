"""Trainings on several devices, or several times on one: a divided model, and a divided batch."""

import numpy as np

import core
import core.functions as F
import core.links as L
from core import iterators, optimizers, training

X = np.sin(np.arange(40, dtype="f")).reshape(8, 5)
T = np.arange(8, dtype="i") % 3


def _weights(*shape):
    return np.cos(np.arange(np.prod(shape), dtype="f")).reshape(shape)


class Divided(core.Chain):
    """A network whose two halves lie on devices of their own, with copies between them."""

    def __init__(self, first, second):
        super().__init__()
        self.places = first, second
        with self.init_scope():
            self.one = L.Linear(5, 16, initialW=_weights(16, 5)).to_device(first)
            self.two = L.Linear(16, 16, initialW=_weights(16, 16)).to_device(second)
            self.three = L.Linear(16, 3, initialW=_weights(3, 16)).to_device(first)

    def forward(self, x):
        first, second = self.places
        h = F.copy(F.tanh(self.one(x)), second)
        return self.three(F.copy(F.tanh(self.two(h)), first))


def of_halves(first, second, steps=4):
    """The losses, and the parameters that steps have left."""
    model = Divided(first, second)
    optimizer = optimizers.MomentumSGD(lr=0.1).setup(model)
    x, t = (core.get_device(first).send(a) for a in (X, T))
    found = []
    for _ in range(steps):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        found.append(float(core.backend.to_host(loss)))
    links = model.one, model.two, model.three
    assert [str(link.W.grad_var.device) for link in links] == [first, second, first]
    return found, _left(model)


class Scored(core.Chain):
    """A network that gives its loss."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(5, 3, initialW=_weights(3, 5))

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.out(x), t)


def of_shares(*devices, steps=4):
    """The same of a model that is copied to each device, where it takes its share of a batch."""
    updater = training.updaters.ParallelUpdater(
        iterators.SerialIterator(list(zip(X, T, strict=True)), 8, shuffle=False),
        optimizers.MomentumSGD(lr=0.1).setup(Scored()),
        devices=dict(zip(("main", "second"), devices, strict=True)),
    )
    model, found = updater.get_optimizer("main").target, []
    x, t = (core.get_device(devices[0]).send(a) for a in (X, T))
    for _ in range(steps):
        found.append(float(core.backend.to_host(model(x, t))))
        updater.update()
    return found, _left(model)


def _left(model):
    return {path: core.backend.to_host(p.array) for path, p in model.namedparams()}


def check(train, *devices):
    """Hold what a training gives on devices against what it gives on the host."""
    losses, left = train(*devices)
    host_losses, expected = train("numpy", "numpy")
    np.testing.assert_allclose(losses, host_losses, rtol=1e-4)
    assert losses[-1] < losses[0] and left.keys() == expected.keys()
    for path, array in expected.items():
        np.testing.assert_allclose(left[path], array, rtol=1e-3, atol=1e-5, err_msg=path)
