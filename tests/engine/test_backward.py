"""backward(): which gradients arrive where, through every form of op."""

import numpy as np
import pytest
from samples import (
    GeneralHalves,
    GeneralMultiply,
    Halves,
    Stop,
    Tanh,
    array,
    ones,
    tanh,
    total,
    variable,
)

import core
import core.functions as F
from core import Elementwise, FunctionNode, Variable
from core.errors import GraphError

# -- what the guide on variables shows -------------------------------------------------------------


def test_the_guides_first_derivative():
    x = Variable(np.array([5], dtype=np.float32))
    y = x**2 - 2 * x + 1
    assert y.array.tolist() == [16] and y.array.dtype == np.float32
    y.backward()
    assert x.grad.tolist() == [8]


def test_the_guides_intermediate_gradient():
    x = Variable(np.array([5], dtype=np.float32))
    z = 2 * x
    y = x**2 - z + 1
    y.backward(retain_grad=True)
    assert z.grad.tolist() == [-1] and x.grad.tolist() == [8]
    y.backward()
    assert z.grad is None, "without retain_grad, gradients in between are released"


def test_the_guides_many_elements():
    x = Variable(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
    y = x**2 - 2 * x + 1
    y.grad = np.ones((2, 3), dtype=np.float32)
    y.backward()
    assert x.grad.tolist() == [[0, 2, 4], [6, 8, 10]]


def test_the_guides_second_derivative():
    x = Variable(np.array([[0, 2, 3], [4, 5, 6]], dtype=np.float32))
    y = x**3
    y.grad = np.ones((2, 3), dtype=np.float32)
    y.backward(enable_double_backprop=True)
    assert x.grad_var.array is x.grad
    assert (x.grad == (3 * x**2).array).all()
    gx = x.grad_var
    x.cleargrad()
    gx.grad = np.ones((2, 3), dtype=np.float32)
    gx.backward()
    assert (x.grad == (6 * x).array).all()


# -- where gradients arrive ------------------------------------------------------------------------


def test_paths_that_branch_and_meet(form):
    """One input is used twice, h three times; NumPy works out the expectation."""
    multiply, tanh_ = form
    x, w = variable(4), variable(4)
    h = tanh_(multiply(x, w))
    y = multiply(multiply(h, x), h)
    y.grad = array(4)
    y.backward()
    xa, wa, g = x.array, w.array, y.grad
    ha = np.tanh(xa * wa)
    through = 2 * ha * xa * (1 - ha * ha) * g
    np.testing.assert_allclose(x.grad, ha * ha * g + through * wa, rtol=1e-5)
    np.testing.assert_allclose(w.grad, through * xa, rtol=1e-5)


def test_a_second_backward_adds_and_leaves_the_first_array_alone(form):
    multiply, tanh_ = form
    x = variable(4)
    y = total(tanh_(multiply(x, x)))
    y.backward()
    first, kept = x.grad, x.grad.copy()
    y.backward()
    np.testing.assert_allclose(x.grad, 2 * kept, rtol=1e-6)
    np.testing.assert_array_equal(first, kept)


def test_five_uses_of_a_number_without_dimensions():
    b = Variable(np.full((), 0.5, "f"))
    x = variable(4)
    y = x
    for _ in range(5):
        y = y * b
    total(y).backward()
    np.testing.assert_allclose(b.grad, 5 * 0.5**4 * x.array.sum(), rtol=1e-5)
    assert type(b.grad) is np.ndarray and b.grad.shape == ()


def test_gradients_without_dimensions_that_meet_before_a_function_of_several_outputs():
    x = Variable(np.full((), 2, "f"))
    y, _ = F.broadcast(x, Variable(np.ones((), "f")))
    (y * F.exp(y)).backward()
    assert type(x.grad) is np.ndarray
    np.testing.assert_allclose(x.grad, 3 * np.exp(2), rtol=1e-6)


def test_inputs_without_gradient_get_none_and_their_rules_do_not_run():
    ran = []

    class Noting(Elementwise):
        def compute(self, xp, x, y):
            return x * y

        def gradient_x(self, xp, g, y):
            ran.append("x")
            return g * y

        def gradient_y(self, xp, g, x):
            ran.append("y")
            return g * x

    x, w = variable(4), variable(4, requires_grad=False)
    total(Noting.call(x, w)).backward()
    total(Noting.call(x, array(4))).backward()
    assert ran == ["x", "x"] and w.grad is None and x.grad is not None
    ran.clear()
    core.grad([total(Noting.call(x, variable(4)))], [x])
    assert ran == ["x"], "grad runs the rules of inputs that need a gradient alone"


def test_nothing_is_recorded_where_nothing_wants_a_gradient():
    w = variable(4, requires_grad=False)
    y = w * w
    assert y.creator is None and not y.requires_grad


def test_an_op_without_backward_stops_the_gradient():
    x = variable(4)
    y = Stop().apply((x * 2,))[0] + x
    y.grad = ones(4)
    y.backward()
    np.testing.assert_array_equal(x.grad, ones(4))
    assert core.grad([Stop().apply((x,))[0]], [x], [Variable(ones(4))]) == [None]


@pytest.mark.parametrize("halves", [Halves, GeneralHalves])
def test_outputs_that_nothing_reached_are_none(halves):
    x = variable(4)
    first, second = halves().apply((x,))
    f = first.creator
    assert f is second.creator and len(f.outputs) == 2
    total(first * first).backward()
    assert f.seen == (True, False)
    np.testing.assert_allclose(x.grad, np.r_[2 * x.array[:2], 0, 0])
    x.cleargrad()
    total(second).backward()
    assert f.seen == (False, True)
    np.testing.assert_allclose(x.grad, [0, 0, 2, 2])
    x.cleargrad()
    (total(first) + total(second)).backward()
    assert f.seen == (True, True)
    np.testing.assert_allclose(x.grad, [1, 1, 2, 2])


@pytest.mark.parametrize("halves", [Halves, GeneralHalves])
def test_an_output_that_is_gone_does_not_hinder(halves):
    x = variable(4)
    first, second = halves().apply((x,))
    y = total(first)
    del first, second
    y.backward()
    np.testing.assert_allclose(x.grad, [1, 1, 0, 0])


@pytest.mark.parametrize("halves", [Halves, GeneralHalves])
def test_a_gradient_set_on_another_output_counts(halves):
    x = variable(4)
    first, second = halves().apply((x,))
    second.grad = ones(2)
    total(first).backward()
    np.testing.assert_allclose(x.grad, [1, 1, 2, 2])


def test_a_gradient_set_in_between_is_replaced():
    x = variable(4)
    h = x * 2
    y = total(h * 3)
    h.grad = ones(4) * 100
    y.backward()
    np.testing.assert_allclose(x.grad, np.full(4, 6.0))


def test_evaluate_computes_at_the_speed_at_hand():
    x, w = array(4), array(4)
    node = (Variable(x) * Variable(w)).creator
    for op in (type(node), GeneralMultiply):
        y = op().evaluate(x, w)
        assert type(y) is np.ndarray
        np.testing.assert_array_equal(y, x * w)
        z = op().evaluate(Variable(x), w)
        assert type(z) is Variable and z.creator is not None
    first, second = GeneralHalves().evaluate(x)
    assert type(first) is type(second) is np.ndarray


def test_several_outputs_in_one_walk():
    x = variable(4)
    h = x * x
    core.backward([h * 2, h], [Variable(ones(4)), Variable(ones(4))])
    np.testing.assert_allclose(x.grad, 6 * x.array, rtol=1e-6)
    with pytest.raises(ValueError, match="expected 1 grad_outputs, got 2"):
        core.backward([h], [None, None])


def test_an_output_that_leads_to_another():
    x = variable(4)
    h = x * x
    y = h * h
    core.backward([y, h], [Variable(ones(4)), Variable(ones(4))])
    np.testing.assert_allclose(x.grad, (2 * h.array + 1) * 2 * x.array, rtol=1e-5)


def test_loss_scale_is_a_factor_that_the_leaves_know():
    x = variable(4)
    total(x * 3).backward(loss_scale=8.0)
    np.testing.assert_allclose(x.grad, np.full(4, 24.0))
    assert x.loss_scale == 8.0


def test_a_gradient_has_its_graph_also_where_none_is_recorded_otherwise():
    x = variable(3)
    y = total(x**3)
    with core.no_backprop_mode():
        y.backward(enable_double_backprop=True)
        (gx,) = core.grad([y], [x], enable_double_backprop=True)
        assert not (x * 2).requires_grad
    for g in (x.grad_var, gx):
        (second,) = core.grad([total(g)], [x])
        np.testing.assert_allclose(second.array, 6 * x.array, rtol=1e-5)


def test_a_leaf_has_nothing_behind_it():
    x = variable(1)
    x.backward()
    assert x.grad is None


# -- how dtypes and kinds of array fare ------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_without_dimensions_stay_arrays_of_their_dtype(dtype):
    x = Variable(np.ones((), dtype))
    for y in (
        x * 2,
        2 * x,
        x + 1.0,
        1 - x,
        x - 1,
        x**2,
        -x,
        x * x,
        tanh(x),
        total(x),
        x * np.float64(2),
        np.float64(2) * x,
        np.ones((), dtype) * x,
        x + np.ones((), dtype),
        np.ones((), dtype) - x,
    ):
        assert type(y.array) is np.ndarray and y.dtype == dtype
        x.cleargrad()
        y.backward()
        assert type(x.grad) is np.ndarray and x.grad.dtype == dtype and x.grad.shape == ()


def test_gradients_of_the_strict_referee_are_its_own():
    strict = core.backend.get("strict")
    x = Variable(strict.asarray(array(3)))
    y = total(Tanh.call(x * x) * 2)
    y.backward(enable_double_backprop=True)
    assert type(y.array) is type(x.grad) is strict.array_type


# -- what is refused -------------------------------------------------------------------------------


def test_several_elements_need_a_gradient_to_start_from():
    x = variable(3)
    with pytest.raises(GraphError, match=r"shape \(3,\).*Set its grad first, or reduce it"):
        (x * 2).backward()


def test_a_variable_that_wants_no_gradient_is_refused():
    with core.no_backprop_mode():
        y = variable(1) * 2
    with pytest.raises(GraphError, match="no_backprop_mode"):
        y.backward()


def test_a_graph_that_was_cut_is_named():
    x = variable(1)
    h = x * 2
    y = tanh(h)
    h.creator.unchain()
    y.backward()
    assert x.grad is None
    z = tanh(x * 2)
    f = z.creator
    z.unchain_backward()
    assert z.creator is None and f.inputs is None


class TwoForOne(FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, indexes, grad_outputs):
        return grad_outputs[0], grad_outputs[0]


class WrongShape(FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, indexes, grad_outputs):
        return (grad_outputs[0].reshape(2, 2),)


@pytest.mark.parametrize(
    ("op", "message"),
    [(TwoForOne, r"TwoForOne.* 1 .*2"), (WrongShape, r"WrongShape.*\(4,\).*\(2, 2\)")],
)
def test_a_backward_that_gives_what_it_may_not_is_named(op, message):
    x = variable(4)
    (y,) = op().apply((x,))
    y.grad = ones(4)
    with pytest.raises(ValueError, match=message):
        y.backward()
    assert x.grad is None


@pytest.mark.parametrize(
    ("gradient", "error", "message"),
    [
        (np.ones(4, "d"), TypeError, "expected dtype float32, got float64"),
        (np.ones(3, "f"), ValueError, r"expected shape \(4,\), got \(3,\)"),
        ([1.0] * 4, TypeError, "expected an array, got list"),
    ],
)
def test_gradients_that_do_not_fit_are_refused_when_set(gradient, error, message):
    x = Variable(array(4), name="x")
    with pytest.raises(error, match=message):
        x.grad = gradient
    with pytest.raises(error, match="gradient of x"):
        x.grad = gradient if not isinstance(gradient, list) else np.ones(4, "d")


def test_a_gradient_on_another_backend_is_refused():
    x = variable(4)
    with pytest.raises(TypeError, match="on numpy, got one on strict.*to_device"):
        x.grad = core.backend.get("strict").asarray(ones(4))


def test_an_exception_in_the_middle_delivers_nothing_and_breaks_nothing():
    class Boom(Elementwise):
        armed = True

        def compute(self, xp, x):
            return x * 1

        def gradient(self, xp, g):
            if Boom.armed:
                raise KeyboardInterrupt
            return g

    x = variable(4)
    h = x * x
    y = total(Boom.call(h) * h + h)
    with pytest.raises(KeyboardInterrupt):
        y.backward()
    assert x.grad is None and h.grad is None and core.config.enable_backprop
    Boom.armed = False
    y.backward()
    np.testing.assert_allclose(x.grad, (2 * h.array + 1) * 2 * x.array, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("ArgMax", lambda x: F.argmax(x)),
        ("Accuracy", lambda x: F.accuracy(x, np.zeros(2, "int32"))),
        ("ClassificationSummary", lambda x: F.f1_score(x[:1], np.zeros(1, "int32"))[0]),
        ("Cast to int32", lambda x: F.cast(F.sum(x), "int32")),
        ("Greater", lambda x: F.sum(x) > 0),
    ],
)
@pytest.mark.parametrize("debug", [False, True])
def test_what_has_no_derivative_says_so_by_name(name, call, debug):
    x = core.Variable(np.ones((2, 3)))
    with core.using_config("debug", debug):
        y = call(x)
        with pytest.raises(core.errors.NotDifferentiable, match=f"backward: {name} has no deriv"):
            y.backward()


def test_complex_numbers_have_no_derivatives():
    x = Variable(np.ones((), "complex64"))
    for call in (lambda y: y.backward(), lambda y: core.grad([y], [x])):
        with pytest.raises(core.errors.NotDifferentiable, match="real numbers, got .* complex64"):
            call(x * 2)


@pytest.mark.parametrize("old", [None, 3.0])
@pytest.mark.parametrize("new", [None, 2.0])
def test_gradients_are_added_to_those_that_inputs_have(old, new):
    given = [None if g is None else Variable(np.full(4, g, "f")) for g in (new, old)]
    (y,) = GeneralHalves().apply((variable(4),))[:1]
    f = y.creator
    f.backward = lambda indexes, grad_outputs: (given[0],)
    (found,) = f.backward_accumulate((0,), (Variable(ones(2)), None), (given[1],))
    total = None if old is new is None else np.full(4, (old or 0) + (new or 0), "f")
    assert found is None if total is None else found.array.tolist() == total.tolist()
