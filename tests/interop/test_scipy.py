"""SciPy's functions for arrays of the standard, on Variables, and the gradients through them."""

import numpy as np
import pytest
import scipy.special
import scipy.stats
from scipy.cluster.vq import whiten
from scipy.optimize import rosen

from core import Variable
from core.testing.gradient_check import check_backward, check_double_backward

X = np.random.default_rng(0).normal(size=(4, 3))
FUNCTIONS = {
    "logsumexp": lambda x: scipy.special.logsumexp(x, axis=1),
    "logsumexp, all": lambda x: scipy.special.logsumexp(x, keepdims=True),
    "softmax": lambda x: scipy.special.softmax(x, axis=-1),
    "log_softmax": lambda x: scipy.special.log_softmax(x, axis=0),
    "zscore": lambda x: scipy.stats.zscore(x, axis=0),
    "whiten": whiten,
    "rosen": rosen,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values(name, dtype):
    expected = FUNCTIONS[name](X.astype(dtype))
    actual = FUNCTIONS[name](Variable(X.astype(dtype)))
    assert isinstance(actual, Variable) and actual.requires_grad
    assert (actual.dtype, actual.shape) == (expected.dtype, np.shape(expected))
    np.testing.assert_allclose(actual.array, expected, rtol=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    function = FUNCTIONS[name]
    random = np.random.default_rng(1)
    g, seed = random.normal(size=np.shape(function(X))), random.normal(size=X.shape)
    check_backward(function, (X,), g, rtol=1e-4, atol=1e-5)
    check_double_backward(lambda x: function(x) ** 2, (X,), g, (seed,), rtol=1e-3, atol=1e-3)


def test_logsumexp_of_infinities():
    x = np.array([[-np.inf, -np.inf], [np.inf, 0.0], [1000.0, 1000.0]])
    with np.errstate(all="ignore"):
        expected = scipy.special.logsumexp(x, axis=1)
        actual = scipy.special.logsumexp(Variable(x, requires_grad=False), axis=1)
    np.testing.assert_allclose(actual.array, expected)


def test_a_function_of_arrays_alone_says_that_the_gradient_would_be_lost():
    with pytest.raises(TypeError, match="this Variable needs a gradient"):
        scipy.special.expit(np.asarray(Variable(X)))
