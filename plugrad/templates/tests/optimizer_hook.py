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


def test_float32_masters_are_moved_by_what_the_hook_gives():
    link = L.Bias(axis=0, shape=(2,))
    link.b.array = np.zeros(2, "float16")
    optimizer = optimizers.SGD(lr=1.0).setup(link)
    optimizer.use_fp32_update()
    optimizer.add_hook(optimizer_hooks.Thing(0.5))
    link.b.grad = np.array([2.0, -4.0], "float16")
    optimizer.update()
    np.testing.assert_array_equal(link.b.array, [-1.0, 2.0])
