"""Gradients that lie in memory otherwise than parameters, and what compiled loops make of them."""

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


@pytest.mark.parametrize("size", [3, 3000])
@pytest.mark.parametrize("turned", ["parameter", "gradient"])
@pytest.mark.parametrize("rule", [core.optimizers.Adam, core.optimizers.MomentumSGD])
def test_numbers_of_other_machines_are_updated(rule, turned, size):
    found, r = [], np.random.default_rng(0)
    values, grads = r.standard_normal((2, size), "f"), r.standard_normal((4, size), "f")
    other = values.dtype.newbyteorder()
    for dtypes in (("f", "f"), (other, "f") if turned == "parameter" else ("f", other)):
        link = core.Link()
        with link.init_scope():
            link.b, link.c = [core.Parameter(v.astype(dtypes[0])) for v in values]
        optimizer = rule().setup(link)
        for grad in grads:
            link.b.grad, link.c.grad = grad.astype(dtypes[1]), grad
            optimizer.update()
        found.append([link.b.array, link.c.array])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
