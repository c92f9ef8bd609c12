"""Debug mode: where a NaN or a changed array came from."""

import numpy as np
import pytest
from samples import Tanh, array, tanh, total, variable

import core
from core import Elementwise, Variable
from core.errors import GraphError


class SquareRoot(Elementwise):
    def compute(self, xp, x):
        return xp.sqrt(x)

    def gradient(self, xp, g, out):
        return g * 0.5 / out


@pytest.fixture
def debug():
    with core.using_config("debug", True), np.errstate(all="ignore"):
        yield


def test_a_nan_in_the_forward_names_the_operation_and_the_line(debug):
    x = Variable(np.array([-1.0], "f"))
    with pytest.raises(GraphError, match="NaN.*forward computation of SquareRoot") as caught:
        SquareRoot.call(x)
    assert "test_debug.py" in str(caught.value)


def test_a_nan_in_the_backward_names_the_operation_and_where_it_was_called(debug):
    x = Variable(np.array([0.0], "f"))
    y = SquareRoot.call(x) * 0
    with pytest.raises(GraphError, match="NaN.*backward computation of SquareRoot") as caught:
        y.backward()
    assert "y = SquareRoot.call(x) * 0" in str(caught.value)
    assert x.grad is None


def test_a_nan_in_the_backward_of_a_graph_of_gradients(debug):
    x = Variable(np.array([0.0], "f"))
    y = SquareRoot.call(x) * 0
    with pytest.raises(GraphError, match="NaN is detected on .* computation of _ / _"):
        core.grad([y], [x], enable_double_backprop=True)


def test_nan_passes_without_debug_mode():
    with np.errstate(all="ignore"):
        y = SquareRoot.call(Variable(np.array([-1.0], "f")))
    assert np.isnan(y.array).all()


def test_integers_and_empty_arrays_are_no_nan(debug):
    assert (variable(0) * 2).shape == (0,)
    assert core.Variable(np.arange(3))[1:].shape == (2,)


def test_the_stack_of_the_call_is_kept_in_debug_mode_alone(debug):
    assert tanh(variable(3)).creator.stack
    with core.using_config("debug", False):
        assert tanh(variable(3)).creator.stack is None


def test_a_parameter_changed_before_backward_is_named(debug):
    w = core.Parameter(array(3), name="w")
    y = total(variable(3) * w)
    w.array[...] = 0
    w.version += 1
    with pytest.raises(GraphError, match="parameter w was changed in place after _ . _,"):
        y.backward()


def test_without_debug_mode_a_changed_parameter_goes_on():
    w = core.Parameter(array(3), name="w")
    x = variable(3)
    y = total(x * w)
    w.array[...] = 7
    w.version += 1
    y.backward()
    np.testing.assert_array_equal(x.grad, np.full(3, 7, "f"))


def test_debug_mode_changes_no_numbers():
    x, w = variable(3), variable(3)
    y = total(Tanh.call(x * w) * x)
    y.backward()
    plain = x.grad, w.grad
    x.cleargrad(), w.cleargrad()
    with core.using_config("debug", True):
        z = total(Tanh.call(x * w) * x)
        z.backward()
    np.testing.assert_array_equal(y.array, z.array)
    np.testing.assert_array_equal(x.grad, plain[0])
    np.testing.assert_array_equal(w.grad, plain[1])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("graph", [False, True])
def test_gradients_without_axes_are_looked_at_as_well(debug, dtype, graph):
    x = Variable(np.array([0.5, 1.5], dtype))
    (g,) = core.grad([tanh(total(x)) * total(x)], [x], enable_double_backprop=graph)
    np.testing.assert_allclose(g.array, np.tanh(2) + 2 / np.cosh(2) ** 2, rtol=1e-2)
    x = Variable(np.zeros((), dtype))
    y = SquareRoot.call(x) * 0
    with pytest.raises(GraphError, match="NaN is detected on"):
        core.grad([y], [x], enable_double_backprop=graph)
