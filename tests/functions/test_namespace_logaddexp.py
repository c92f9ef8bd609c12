"""logaddexp on Variables: smooth where its arguments meet, to every order."""

import numpy as np
import pytest

import core
import core.functions as F
from core.ops.namespace import namespace as xp


@pytest.mark.parametrize("flip", [False, True])
def test_values_with_arrays_and_numbers(flip):
    x = np.array([-1000.0, -30.0, 0.0, 1000.0])
    arguments = (0.0, core.Variable(x)) if flip else (core.Variable(x), 0.0)
    np.testing.assert_allclose(xp.logaddexp(*arguments).array, np.logaddexp(x, 0.0), rtol=1e-15)


def test_derivatives_where_the_arguments_are_equal():
    a, b = (core.Variable(np.array([0.0, 3.0])) for _ in range(2))
    y = xp.logaddexp(a, b)
    first = core.grad([F.sum(y)], [a, b], enable_double_backprop=True)
    assert [list(g.array) for g in first] == [[0.5, 0.5], [0.5, 0.5]]
    second = core.grad([F.sum(first[0])], [a, b])
    assert [list(g.array) for g in second] == [[0.25, 0.25], [-0.25, -0.25]]
