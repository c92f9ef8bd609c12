"""Every bundled optimizer, by check_optimizer: against loops over Python floats."""

import math

import pytest

from core import optimizers
from core.testing import check_optimizer


def sgd(theta, gradients, lr=0.01):
    for g in gradients:
        theta = theta - lr * g
        yield theta


def momentum_sgd(theta, gradients, lr=0.01, momentum=0.9):
    velocity = 0.0
    for g in gradients:
        velocity = momentum * velocity - lr * g
        theta = theta + velocity
        yield theta


def adam(
    theta,
    gradients,
    alpha=0.001,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    eta=1.0,
    decay=0.0,
    amsgrad=False,
    final_lr=None,
    gamma=0.001,
):
    m = v = largest = 0.0
    for t, g in enumerate(gradients, 1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        largest = max(largest, v) if amsgrad else v
        rate = alpha * math.sqrt(1 - beta2**t) / (1 - beta1**t) / (math.sqrt(largest) + eps)
        if final_lr is not None:
            lower, upper = final_lr * (1 - 1 / (gamma * t + 1)), final_lr * (1 + 1 / (gamma * t))
            rate = min(max(rate, lower), upper)
        theta = theta - eta * (rate * m + decay * theta)
        yield theta


OPTIMIZERS = {
    "SGD": (optimizers.SGD, {}, sgd, {}),
    "SGD(lr)": (optimizers.SGD, {"lr": 0.3}, sgd, {"lr": 0.3}),
    "MomentumSGD": (optimizers.MomentumSGD, {}, momentum_sgd, {}),
    "MomentumSGD(...)": (
        optimizers.MomentumSGD,
        {"lr": 0.1, "momentum": 0.5},
        momentum_sgd,
        {"lr": 0.1, "momentum": 0.5},
    ),
    "Adam": (optimizers.Adam, {}, adam, {}),
    "Adam(...)": (
        optimizers.Adam,
        {"alpha": 0.1, "beta1": 0.5, "beta2": 0.8, "eps": 1e-3, "eta": 0.5},
        adam,
        {"alpha": 0.1, "beta1": 0.5, "beta2": 0.8, "eps": 1e-3, "eta": 0.5},
    ),
    "AdamW": (optimizers.AdamW, {"alpha": 0.1}, adam, {"alpha": 0.1, "decay": 0.01}),
    "AMSGrad": (optimizers.AMSGrad, {"beta2": 0.1}, adam, {"beta2": 0.1, "amsgrad": True}),
    "AdaBound": (
        optimizers.AdaBound,
        {"gamma": 1.0, "final_lr": 0.05},
        adam,
        {"gamma": 1.0, "final_lr": 0.05},
    ),
    "AMSBound": (
        optimizers.AMSBound,
        {"gamma": 1.0, "beta2": 0.1},
        adam,
        {"gamma": 1.0, "beta2": 0.1, "final_lr": 0.1, "amsgrad": True},
    ),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name):
    make, arguments, loop, settings = OPTIMIZERS[name]
    check_optimizer(
        lambda: make(**arguments),
        lambda theta, gradients: list(loop(theta, gradients, **settings)),
    )
