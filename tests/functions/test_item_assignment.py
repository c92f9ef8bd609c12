"""x[...] = value: in place where no gradient is needed, else a new result in the place of x."""

import numpy as np
import pytest

import core
from core import Parameter, Variable
from core.graph.function_hook import FunctionHook
from core.testing.gradient_check import check_backward, check_double_backward


def constant(*values):
    return Variable(np.array(values, dtype=float), requires_grad=False)


def assigned(x, value, index=np.s_[1:, 0]):
    y = x * 1.0
    y[index] = value
    return y


def test_a_constant_is_written_to():
    x = constant(1, 2, 3)
    array, view = x.array, x.reshape((3, 1))
    x[constant(1).array.astype(int)[0] :] = 7
    assert x.array is array and view.array.tolist() == [[1], [7], [7]]
    x[x > 5] = constant(8.0)
    assert array.tolist() == [1, 8, 8]


@pytest.mark.parametrize(
    "index", [np.s_[0], np.s_[1:, 0], np.s_[..., ::2], np.array([True, False])]
)
def test_derivatives(index):
    x = np.arange(6.0).reshape(2, 3) + 1
    value = np.ones_like(x[index]) * 0.5
    g = np.arange(6.0).reshape(2, 3) - 2

    def squared(x, value):
        return assigned(x, value, index) ** 2

    check_backward(squared, (x, value), g)
    check_double_backward(lambda *xs: squared(*xs) ** 2, (x, value), g, (x, value))


TWICE = np.s_[[1, 0, 1]], np.s_[:, [2, 0, 2]], (np.array([0, 0]), [1, 1])


@pytest.mark.parametrize("index", TWICE)
def test_of_a_place_that_is_named_twice_the_last_value_has_the_gradient(index):
    x = np.arange(6.0).reshape(2, 3) + 1
    g = np.arange(6.0).reshape(2, 3) - 2

    def squared(x, value):
        return assigned(x, value, index) ** 2

    for value in (np.arange(x[index].size, dtype=float).reshape(x[index].shape), np.array(0.5)):
        check_backward(squared, (x, value), g)
        check_double_backward(lambda *xs: squared(*xs) ** 2, (x, value), g, (x, value))


def test_what_was_computed_before_keeps_its_gradient():
    x = Variable(np.array([1.0, 2.0]))
    y = x * 3.0
    before = y * y
    y[0] = 5
    core.backward([core.functions.sum(before), core.functions.sum(y)])
    assert y.array.tolist() == [5, 6] and before.array.tolist() == [9, 36]
    assert x.grad.tolist() == [18, 36 + 3]


def test_a_constant_takes_a_value_with_history():
    w = Variable(np.array(3.0))
    x = constant(1, 2)
    kept = x.array
    x[1] = w
    core.functions.sum(x * x).backward()
    assert w.grad == 6 and kept.tolist() == [1, 2]


def test_hooks_see_it_and_the_node_is_that_of_the_variable():
    seen = []

    class Hook(FunctionHook):
        def forward_postprocess(self, function, in_data):
            seen.append(function.label)

    y = Variable(np.array([1.0, 2.0])) * 1.0
    with Hook():
        y[0] = 4
    assert "SetItem" in seen and y.creator_node.label == "SetItem"
    assert y.node.get_variable() is y


def test_leaves_are_refused_by_name():
    with pytest.raises(TypeError, match="weights is a leaf that needs a gradient"):
        Variable(np.zeros(2), name="weights")[0] = 1
    p = Parameter(0, (2,))
    with pytest.raises(TypeError, match="leaf"):
        p[0] = 1
    with core.no_backprop_mode():
        p[0] = 1
    assert (p.array.tolist(), p.version) == ([1, 0], 1)


def test_the_value_is_cast_and_broadcast():
    x = Variable(np.zeros((2, 2), "f")) * 1.0
    x[0] = np.array([1.5, 2.5])
    assert x.dtype == "float32" and x.array[0].tolist() == [1.5, 2.5]
