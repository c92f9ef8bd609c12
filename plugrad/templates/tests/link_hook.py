import core
import core.links as L
import numpy as np
from core import link_hooks


def test_links_are_seen_in_their_order():
    model = core.Sequential(L.Linear(2, 3), L.Linear(3, 1))
    with link_hooks.Thing() as hook:
        model(np.ones((1, 2), "f"))
    assert hook.seen == ["Sequential", "Linear", "Linear"]
