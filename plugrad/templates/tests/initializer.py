import core.links as L
import numpy as np
from core import initializers


def test_parameters_start_with_it():
    link = L.Linear(3, 2, initialW=initializers.Thing(0.25))
    np.testing.assert_array_equal(link.W.array, np.full((2, 3), 0.25, "f"))
