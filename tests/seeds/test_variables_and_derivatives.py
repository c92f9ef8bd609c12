"""The guide on variables and derivatives, followed step by step as a reader would."""

import numpy as np
import pytest

import core
import core.functions as F
from core import Variable


def table(first):
    """The guide's 2x3 table, which begins with 1, or with 0 for higher derivatives."""
    return Variable(np.array([[first, 2, 3], [4, 5, 6]], dtype=np.float32))


def test_a_polynomial_and_its_slope():
    x_data = np.array([5], dtype=np.float32)
    x = Variable(x_data)
    y = x**2 - 2 * x + 1
    assert type(y) is Variable
    assert repr(y.array) == "array([16.], dtype=float32)"
    assert y.array is y.data
    y.backward()
    assert repr(x.grad) == "array([8.], dtype=float32)"


def test_gradients_in_between_are_dropped_unless_asked_for():
    x = Variable(np.array([5], dtype=np.float32))
    for keep in (False, True):
        z = 2 * x
        y = x**2 - z + 1
        y.backward(retain_grad=keep)
        assert (z.grad is None) is not keep
    assert repr(z.grad) == "array([-1.], dtype=float32)"


def test_several_elements_need_a_first_error():
    x = table(1)
    y = x**2 - 2 * x + 1
    with pytest.raises(core.errors.GraphError, match="gradient to start from"):
        y.backward()
    y.grad = np.ones((2, 3), dtype=np.float32)
    y.backward()
    assert x.grad.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert x.grad.dtype == np.float32


def test_functions_are_differentiated_alike():
    x = table(1)
    y = F.sum(F.exp(F.sin(x)) * x)
    y.backward()
    by_grad = core.grad([F.sum(F.exp(F.sin(x)) * x)], [x])[0]
    np.testing.assert_array_equal(x.grad, by_grad.array)
    a = x.array
    np.testing.assert_allclose(x.grad, np.exp(np.sin(a)) * (1 + a * np.cos(a)), rtol=1e-5)


def test_a_second_derivative():
    x = table(0)
    y = x**3
    y.grad = np.ones((2, 3), dtype=np.float32)
    y.backward(enable_double_backprop=True)
    assert repr(x.grad_var) == (
        "variable([[  0.,  12.,  27.],\n          [ 48.,  75., 108.]], dtype=float32)"
    )
    assert str(x.grad_var) == "variable([[  0.  12.  27.]\n          [ 48.  75. 108.]])"
    assert x.grad_var.array is x.grad
    assert (x.grad == (3 * x**2).array).all()

    gx = x.grad_var
    x.cleargrad()
    gx.grad = np.ones((2, 3), dtype=np.float32)
    gx.backward()
    assert x.grad.tolist() == [[0, 12, 18], [24, 30, 36]]
    assert (x.grad == (6 * x).array).all()


def test_without_the_flag_there_is_no_second_derivative():
    x = table(0)
    y = x**3
    y.grad = np.ones((2, 3), dtype=np.float32)
    y.backward()
    assert x.grad_var.creator is None
