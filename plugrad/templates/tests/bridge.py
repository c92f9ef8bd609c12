import core
import numpy as np
from core import links as L


def test_as_thing():
    link, x = L.Linear(3, 2), np.ones((4, 3), "f")
    assert (core.interop.as_thing(link)(x) == link(x).array).all()
