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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_derivatives_far_apart_keep_their_digits(dtype):
    """By the hyperbolic tangent they were 0 from -17 on in float32."""
    d = np.array([-10, -20, -40, -80], dtype)
    x = core.Variable(d)
    (slope,) = core.grad([xp.logaddexp(x, 0 * d)], [x], [core.Variable(0 * d + 1)])
    (back,) = core.grad([xp.logaddexp(0 * d, x)], [x], [core.Variable(0 * d + 1)])
    np.testing.assert_allclose(slope.array, 1 / (1 + np.exp(-d.astype("d"))), rtol=1e-5)
    np.testing.assert_array_equal(back.array, slope.array)
