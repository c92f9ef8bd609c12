import core
import core.links as L
import numpy as np
from core.testing import check_link


def test_values_gradients_copies_and_files():
    def reference(params, x):
        return np.tanh(x @ params["/linear/W"].T + params["/linear/b"])

    core.seed(0)
    x = np.linspace(-1, 1, 6).reshape(2, 3)
    check_link(lambda: L.Thing(3, 2), (x,), reference)
    core.seed(None)


def test_its_size_may_be_left_open():
    assert L.Thing(None, 4)(np.zeros((2, 5), "f")).shape == (2, 4)
