"""Calls of links and steps of optimizers on next to no arithmetic, as any user would write them."""

import sys
from pathlib import Path

import numpy as np

import core
import core.functions as F
import core.links as L

sys.path[:0] = [str(Path(__file__).with_name("workers"))]

from protocol import Case  # noqa: E402


def model() -> core.Sequential:
    """A network of three layers, with six parameters of a few elements each."""
    drawn = np.random.default_rng(0)
    layers = [
        L.Linear.from_params(drawn.normal(size=shape).astype("f"), np.zeros(shape[0], "f"))
        for shape in ((4, 4), (4, 4), (2, 4))
    ]
    return core.Sequential(layers[0], F.relu, layers[1], F.relu, layers[2])


def cases() -> dict[str, Case]:
    """Return what is counted, each for one call."""
    network, x = model(), np.ones((4, 4), "f")
    t, layer, one = np.array([0, 1, 1, 0]), network[0], core.Variable(x[:1])

    def link(repeat: int) -> None:
        with core.no_backprop_mode():
            for _ in range(repeat):
                layer(one)

    def inference(repeat: int) -> None:
        with core.no_backprop_mode():
            for _ in range(repeat):
                network(x)

    def cleargrads(repeat: int) -> None:
        for _ in range(repeat):
            network.cleargrads()

    def loss_backward(repeat: int) -> None:
        for _ in range(repeat):
            loss = F.softmax_cross_entropy(network(x), t)
            network.cleargrads()
            loss.backward()

    return {
        "link": link,
        "inference": inference,
        "cleargrads": cleargrads,
        "loss_backward": loss_backward,
        **steps_of("sgd", core.optimizers.SGD(), x, t),
        **steps_of("adam", core.optimizers.Adam(), x, t),
    }


def steps_of(
    name: str, optimizer: core.GradientMethod, x: np.ndarray, t: np.ndarray
) -> dict[str, Case]:
    """Return a whole step, and one from gradients that are there."""
    network = model()
    optimizer.setup(network)

    def loss() -> core.Variable:
        return F.softmax_cross_entropy(network(x), t)

    def step(repeat: int) -> None:
        for _ in range(repeat):
            optimizer.update(loss)

    def update(repeat: int) -> None:
        if next(network.params()).grad is None:
            optimizer.update(loss)
        for _ in range(repeat):
            optimizer.update()

    return {f"{name}_step": step, f"{name}_update": update}
