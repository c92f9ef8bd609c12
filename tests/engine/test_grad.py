"""grad(): derivatives of any order without touching the gradients of anybody."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import FORMS, Halves, array, ones, tanh, total, variable

import core
from core import FunctionNode, Variable
from core.errors import GraphError
from core.testing import gradient_check


@given(st.integers(1, 5), st.floats(0.5, 2))
def test_any_order_of_a_power(order, value):
    """The nth derivative of x^6, by grad of grad of ..."""
    x = Variable(np.array([value]))
    y, expected = x**6, value**6
    for n in range(order):
        (y,) = core.grad([y], [x], enable_double_backprop=True)
        expected *= (6 - n) / value
    np.testing.assert_allclose(y.array, [expected], rtol=1e-9)
    assert x.grad is None


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_first_and_second_derivatives_in_every_form(form):
    multiply, tanh_ = form

    def f(x, w):
        h = tanh_(multiply(x, w))
        return multiply(tanh_(multiply(h, x)), h) + multiply(x, x)

    x, w, g, ggx, ggw = (array(4, dtype="float64") for _ in range(5))
    gradient_check.check_backward(f, (x, w), g)
    gradient_check.check_double_backward(f, (x, w), g, (ggx, ggw))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_third_derivatives_in_every_form(form):
    multiply, tanh_ = form

    def second(x):
        (g,) = core.grad([total(tanh_(multiply(x, x)))], [x], enable_double_backprop=True)
        (g,) = core.grad([total(g)], [x], enable_double_backprop=True)
        return g

    gradient_check.check_backward(second, array(3, dtype="float64"), array(3, dtype="float64"))


def test_the_release_notes_gradient_of_gradient_of_gradient():
    x = Variable(np.array([2.0], "f"))
    y = x**4
    (gx,) = core.grad([y], [x], enable_double_backprop=True)
    (ggx,) = core.grad([gx], [x], enable_double_backprop=True)
    (gggx,) = core.grad([ggx], [x], enable_double_backprop=True)
    assert [v.array.item() for v in (gx, ggx, gggx)] == [32, 48, 48]


def test_the_release_notes_gradient_penalty():
    """A loss of a gradient reaches the parameters, by grad() and by backward() alike."""
    w = variable(3)
    x_hat = variable(3)
    (g,) = core.grad([total(tanh(x_hat * w))], [x_hat], enable_double_backprop=True)
    total((g - 1) ** 2).backward()
    by_grad = w.grad
    w.cleargrad()
    x_hat.cleargrad()
    total(tanh(x_hat * w)).backward(enable_double_backprop=True)
    penalty = total((x_hat.grad_var - 1) ** 2)
    w.cleargrad()
    penalty.backward()
    np.testing.assert_allclose(w.grad, by_grad, rtol=1e-5)


class _LookingOn(core.FunctionHook):
    """While it is in force the walk adds gradients pair by pair."""


@given(
    st.lists(st.floats(-2, 2, width=32), min_size=3, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.sampled_from([(), (2,)]),
)
def test_gradients_that_meet_at_a_variable_are_one_sum_with_the_bits_of_pairs(
    factors, through_y, shape
):
    x, y = [Variable(np.full(shape, value, "f")) for value in (0.3, -0.7)]

    def derivatives():
        z = tanh(x)
        for factor, other in zip(factors, through_y, strict=False):
            z = z + tanh(x * y * factor) * (y if other else 1.5)
        gx, gy = core.grad([z], [x, y], enable_double_backprop=True)
        seconds = core.grad([gx], [x, y], enable_double_backprop=True)
        (third,) = core.grad([seconds[0]], [y])
        (of_y_alone,) = core.grad([gx], [y])
        return [gx, gy], [*seconds, third, of_y_alone]

    firsts, higher = derivatives()
    with _LookingOn():
        pairs, higher_of_pairs = derivatives()
    for g, of_pairs in zip(firsts, pairs, strict=True):
        assert g.array.tobytes() == of_pairs.array.tobytes()
    for g, of_pairs in zip(higher, higher_of_pairs, strict=True):
        np.testing.assert_allclose(g.array, of_pairs.array, rtol=1e-4, atol=1e-5)
    assert len(firsts[0].creator.inputs) == 1 + len(factors)
    assert len(pairs[0].creator.inputs) == 2


def test_a_sum_of_gradients_that_is_passed_on_stays_what_it_is():
    x, w = [Variable(np.array([value])) for value in (2.0, 3.0)]
    h = x + w  # its gradient, a sum of three, becomes the first one of both
    y = h * h * h + x * x * x + w * x
    gx, gw, gh = core.grad([y], [x, w, h], enable_double_backprop=True)
    assert [g.array.item() for g in (gx, gw, gh)] == [90.0, 77.0, 75.0]
    (ggx,) = core.grad([gx + gw + gh], [x])
    assert ggx.array.item() == 3 * 30 + 12 + 1


def test_intermediate_variables_are_targets_too():
    x = variable(4)
    h = x * x
    y = total(tanh(h))
    gh, gx = core.grad([y], [h, x])
    np.testing.assert_allclose(gx.array, gh.array * 2 * x.array, rtol=1e-5)
    assert x.grad is None and h.grad is None


def test_a_target_that_leads_to_another_target():
    x = variable(4)
    h = x * x
    y = h * h
    gx, gh = core.grad([y, h], [x, h], [Variable(ones(4)), Variable(ones(4))])
    np.testing.assert_allclose(gh.array, 1 + 2 * h.array, rtol=1e-5)
    np.testing.assert_allclose(gx.array, gh.array * 2 * x.array, rtol=1e-5)


def test_the_same_output_twice_counts_twice():
    x = variable(4)
    y = x * 2
    (g,) = core.grad([y, y], [x], [Variable(ones(4)), Variable(ones(4))])
    np.testing.assert_array_equal(g.array, np.full(4, 4, "f"))


@pytest.mark.parametrize("inputs", ["x", "xw"])
def test_gradients_of_variables_in_between_stay(inputs):
    named = {"x": Variable(np.array(3.0)), "w": Variable(np.array(2.0))}
    h = named["x"] * named["w"]
    h.grad = np.array(5.0)
    found = core.grad([h * h], [named[name] for name in inputs])
    assert [g.array.item() for g in found] == [24, 36][: len(inputs)]
    assert h.grad == 5 and named["x"].grad is None


def test_several_outputs_of_one_function():
    x = variable(4)
    first, second = Halves.call(x)
    (g,) = core.grad([total(first), total(second)], [x])
    np.testing.assert_array_equal(g.array, [1, 1, 2, 2])


def test_an_output_is_its_own_target():
    y = variable(4) * 2
    (g,) = core.grad([y], [y], [Variable(ones(4) * 3)])
    np.testing.assert_array_equal(g.array, ones(4) * 3)


def test_what_an_output_does_not_depend_on_is_none():
    x, other = variable(4), variable(4)
    assert core.grad([total(x * 2)], [other]) == [None]
    assert core.grad([total(x * 2)], [x, other])[1] is None


def test_grad_outputs_default_to_ones():
    x = variable(2, 3)
    (g,) = core.grad([x * 3], [x])
    np.testing.assert_array_equal(g.array, np.full((2, 3), 3, "f"))


def test_grad_inputs_are_added_to():
    x = variable(4)
    (g,) = core.grad([total(x * 3)], [x], grad_inputs=[Variable(ones(4))])
    np.testing.assert_array_equal(g.array, ones(4) * 4)
    (g,) = core.grad([total(x * 3)], [x], grad_inputs=[None])
    np.testing.assert_array_equal(g.array, ones(4) * 3)


@given(st.lists(st.tuples(st.integers(-3, 3), st.none() | st.integers(-3, 3)), min_size=1))
def test_grad_inputs_lead_on_to_inputs_that_others_depend_on(steps):
    """Each input is a factor times the one before; the first is a leaf, or in the graph as well."""
    inputs, given = [Variable(array(2))], [None]
    for factor, g in steps:
        inputs.append(inputs[-1] * float(factor))
        given.append(None if g is None else Variable(np.full(2, g, "f")))
    expected, g = [], np.ones(2)
    for factor, g0 in reversed([(1, None), *steps]):
        g = g if g0 is None else g + g0
        expected.insert(0, g)
        g = g * factor
    for first in (0, 1):
        found = core.grad([inputs[-1]], inputs[first:], None, given[first:], retain_grad=True)
        np.testing.assert_array_equal([g.array for g in found], expected[first:])
        np.testing.assert_array_equal([x.grad for x in inputs[1:]], expected[1:])
        assert inputs[0].grad is None


def test_grad_inputs_of_what_outputs_do_not_depend_on_are_the_gradients():
    x, other = variable(2), variable(3)
    h = other * 3
    gh = Variable(ones(3))
    gx, gother, found = core.grad([x * 2], [x, other, h], grad_inputs=[None, None, gh])
    np.testing.assert_array_equal(gx.array, ones(2) * 2)
    assert gother is None
    np.testing.assert_array_equal(found.array, ones(3))


@pytest.mark.parametrize("double", [False, True])
def test_gradients_to_start_from_may_be_arrays(double):
    """As in Chainer 7: they are constants of a graph of the gradients."""
    x, g = variable(4), array(4)
    (gx,) = core.grad([x**3], [x], [g], [ones(4)], enable_double_backprop=double)
    np.testing.assert_allclose(gx.array, 3 * x.array**2 * g + 1, rtol=1e-5)
    if double:
        (ggx,) = core.grad([gx], [x], [ones(4)])
        np.testing.assert_allclose(ggx.array, 6 * x.array * g, rtol=1e-5)


def test_set_grad_and_retain_grad():
    x = variable(4)
    h = x * 2
    (g,) = core.grad([total(tanh(h))], [x], set_grad=True, retain_grad=True)
    assert x.grad_var is g and h.grad is not None


def test_loss_scale():
    x = variable(4)
    (g,) = core.grad([total(x * 3)], [x], set_grad=True, loss_scale=4.0)
    np.testing.assert_array_equal(g.array, ones(4) * 12)
    assert x.loss_scale == 4.0


def test_without_double_backprop_the_gradient_has_no_history():
    x = variable(4)
    (g,) = core.grad([total(x * x)], [x])
    assert g.creator is None
    (g,) = core.grad([total(x * x)], [x], enable_double_backprop=True)
    assert g.creator is not None


@pytest.mark.parametrize(
    ("outputs", "inputs", "options", "error", "message"),
    [
        ("y", "[x]", {}, TypeError, "outputs to be a tuple or a list, got Variable"),
        ("[y]", "x", {}, TypeError, "inputs to be a tuple or a list, got Variable"),
        ("[y.array]", "[x]", {}, TypeError, "Variables in outputs, got ndarray"),
        ("[y]", "[x.array]", {}, TypeError, "Variables in inputs, got ndarray"),
        ("[y]", "[x]", {"grad_outputs": "y"}, TypeError, "grad_outputs to be a tuple or a list"),
        ("[y]", "[x]", {"grad_outputs": "[1.0]"}, TypeError, "in grad_outputs, got float"),
        ("[y]", "[x]", {"grad_outputs": "[y, y]"}, ValueError, "expected 1 grad_outputs, got 2"),
        ("[y]", "[x]", {"grad_inputs": "[]"}, ValueError, "expected 1 grad_inputs, got 0"),
        ("[y]", "[x]", {"grad_outputs": "[x]"}, ValueError, r"expected shape \(\), got \(4,\)"),
        ("[y]", "[x]", {"grad_inputs": "[y]"}, ValueError, r"expected shape \(4,\), got \(\)"),
    ],
)
def test_arguments_are_checked(outputs, inputs, options, error, message):
    x = variable(4)
    names = {"x": x, "y": total(x * 2)}
    options = {name: eval(value, names) for name, value in options.items()}
    with pytest.raises(error, match=message):
        core.grad(eval(outputs, names), eval(inputs, names), **options)


# -- ops that can be differentiated once -----------------------------------------------------------


class OldSquare(core.Function):
    """Old-style: its gradient is computed on arrays, and has no history."""

    def forward(self, inputs):
        return (inputs[0] * inputs[0],)

    def backward(self, inputs, grad_outputs):
        return (2 * inputs[0] * grad_outputs[0],)


def test_an_old_style_function_is_differentiated_once_and_raises_the_second_time():
    x = variable(4)
    (g,) = core.grad([total(OldSquare()(x))], [x])
    np.testing.assert_allclose(g.array, 2 * x.array)
    with pytest.raises(GraphError, match="OldSquare"):
        (g,) = core.grad([total(OldSquare()(x))], [x], enable_double_backprop=True)
        core.grad([total(g)], [x])


def test_a_gradient_of_a_gradient_that_is_constant_is_none():
    x = variable(4)
    (g,) = core.grad([total(x * 3)], [x], enable_double_backprop=True)
    assert not g.requires_grad or core.grad([total(g)], [x]) == [None]


def test_a_general_backward_may_use_forward_again():
    class Twice(FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward(self, indexes, grad_outputs):
            return Twice().apply(grad_outputs)

    x = variable(4)
    (y,) = Twice().apply((x,))
    (g,) = core.grad([y], [x], [Variable(ones(4))], enable_double_backprop=True)
    np.testing.assert_array_equal(g.array, ones(4) * 2)
