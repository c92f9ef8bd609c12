import core.links as L
import numpy as np
from core import optimizer_hooks, optimizers


def test_gradients_are_multiplied():
    link = L.Bias(axis=0, shape=(2,))
    optimizer = optimizers.SGD(lr=1.0).setup(link)
    optimizer.add_hook(optimizer_hooks.Thing(0.5))
    link.b.grad = np.array([2.0, -4.0], "f")
    optimizer.update()
    np.testing.assert_array_equal(link.b.array, [-1.0, 2.0])
