"""Gradients of one axis that do not lie in one piece, as of sums, in compiled loops of rules."""

import numpy as np
import pytest

import core


@pytest.mark.parametrize(
    "strided", [np.broadcast_to(np.float32(2), 3000), np.full(6000, 2, "f")[::2]]
)
def test_a_gradient_with_gaps_is_taken(strided):
    found = []
    for grad in (strided, np.full(3000, 2, "f")):
        link = core.Link()
        with link.init_scope():
            link.b = core.Parameter(np.zeros(3000, "f"))
        optimizer = core.optimizers.Adam().setup(link)
        link.b.grad = grad
        optimizer.update()
        found.append(link.b.array)
    np.testing.assert_array_equal(*found)
