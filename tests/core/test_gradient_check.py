"""Finite differences, and the checks that no wrong gradient may pass."""

import numpy as np
import pytest

import core
import core.functions as F
from core import FunctionNode, Variable
from core.arrays import backend
from core.testing.gradient_check import (
    NondifferentiableError,
    assert_allclose,
    check_backward,
    check_double_backward,
    numerical_grad,
)

BACKENDS = ["numpy", "strict"]


def arrays(name, *shapes, seed=0):
    generator = np.random.default_rng(seed)
    b = backend.get(name)
    return [b.asarray(generator.uniform(0.5, 1.5, shape)) for shape in shapes]


class Square(FunctionNode):
    """x^2 in the general form, its gradient off by a factor or in one element."""

    factor = 2.0
    spoil = None

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] * inputs[0],)

    def backward(self, indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        gx = grad_outputs[0] * x * self.factor
        if self.spoil is not None:
            gx = gx + Variable(x.backend.asarray(self.spoil, dtype=x.dtype))
        return (gx,)


def square(x, **faults):
    node = Square()
    vars(node).update(faults)
    return node.apply((x,))[0]


# -- numerical_grad --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BACKENDS)
def test_numerical_grad_of_a_closure(name):
    x, w, gy = arrays(name, (2, 3), (2, 3), (2, 3))
    before = backend.to_host(x).copy()
    gx, gw = numerical_grad(lambda: (x * x * w,), (x, w), (gy,))
    hx, hw, hg = (backend.to_host(a) for a in (x, w, gy))
    assert_allclose(gx, 2 * hx * hw * hg, atol=1e-6)
    assert_allclose(gw, hx * hx * hg, atol=1e-6)
    assert type(gx) is type(x) and gx.dtype == x.dtype
    np.testing.assert_array_equal(backend.to_host(x), before)


def test_numerical_grad_of_several_outputs_some_left_out():
    (x,) = arrays("numpy", (3,))
    (gx,) = numerical_grad(lambda: (x * 2, x * 3, x * 5), (x,), (np.ones(3), None, np.ones(3)))
    assert_allclose(gx, np.full(3, 7.0))


def test_numerical_grad_of_a_number_and_of_nothing():
    x = np.array(3.0)
    (gx,) = numerical_grad(lambda: (x * x,), (x,), (np.array(1.0),))
    assert gx.shape == ()
    assert_allclose(gx, 6.0)
    x = np.ones((0, 2))
    assert numerical_grad(lambda: (x,), (x,), (x,))[0].shape == (0, 2)


def test_numerical_grad_is_the_text_books():
    """The test that the system's first documentation shows: through the creator's forward."""
    x = Variable(np.array([[1.0, -2.0], [3.0, 0.5]]))
    y = square(x)
    y.grad = np.ones((2, 2))
    y.backward()
    f = y.creator
    (gx,) = numerical_grad(lambda: f.forward((x.data,)), (x.data,), (y.grad,))
    assert_allclose(gx, x.grad)


def test_numerical_grad_counts_the_outputs():
    x = np.ones(2)
    with pytest.raises(ValueError, match="gradients of 1 outputs, got 2"):
        numerical_grad(lambda: (x,), (x,), (x, x))


def test_the_array_is_put_back_after_an_error():
    x = np.ones(2)

    def f():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        numerical_grad(f, (x,), (x,))
    assert (x == 1).all()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.abs(x),  # a kink
        lambda x: np.maximum(x, 0.0002),  # a kink beside the point
        lambda x: np.sign(x) * 0.1,  # a jump
    ],
)
def test_kinks_and_jumps_are_detected(f):
    x = np.array([1.0, 0.0])
    with pytest.raises(NondifferentiableError, match=r"element \(1,\)"):
        numerical_grad(lambda: (f(x),), (x,), (np.ones(2),), detect_nondifferentiable=True)
    numerical_grad(lambda: (f(x),), (x,), (np.ones(2),))


@pytest.mark.parametrize("f", [np.exp, np.sin, lambda x: x**5, lambda x: 0 * x, lambda x: 1 / x])
def test_smooth_functions_are_not_suspected(f):
    x = np.array([0.3, 2.0, -1.0])
    (gx,) = numerical_grad(lambda: (f(x),), (x,), (np.ones(3),), detect_nondifferentiable=True)
    assert np.isfinite(gx).all()


def test_known_center_outputs_are_used():
    x = np.array([2.0])
    calls = []

    def f():
        calls.append(float(x[0]))
        return (x * x,)

    numerical_grad(
        f, (x,), (np.ones(1),), detect_nondifferentiable=True, center_outputs=(np.array([4.0]),)
    )
    assert 2.0 not in calls


# -- check_backward --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BACKENDS)
def test_a_right_gradient_passes(name):
    x, gy, ggx = arrays(name, (3, 2), (3, 2), (3, 2))
    check_backward(square, x, gy)
    check_backward(square, (x,), (gy,), detect_nondifferentiable=True)
    check_double_backward(square, x, gy, ggx)


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_wrong_gradient_does_not_pass(name, dtype):
    x, gy = arrays(name, (3, 2), (3, 2))
    cast = backend.get(name)
    x, gy = cast.xp.astype(x, cast.dtype(dtype)), cast.xp.astype(gy, cast.dtype(dtype))
    with pytest.raises(AssertionError, match="does not fit the forward"):
        check_backward(lambda v: square(v, factor=2.02), x, gy, dtype="float64")


def test_a_gradient_wrong_in_one_element_of_many_does_not_pass():
    x, gy = arrays("numpy", (1000,), (1000,))
    spoil = np.zeros(1000)
    spoil[617] = 0.5
    with pytest.raises(AssertionError, match="does not fit the forward"):
        check_backward(lambda v: square(v, spoil=spoil), x, gy)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_inputs_are_checked_in_float64(dtype):
    x, gy, ggx = (a.astype(dtype) for a in arrays("numpy", (3,), (3,), (3,)))
    check_backward(square, x, gy, dtype="float64")
    check_backward(square, x, gy, dtype=np.float64)
    check_double_backward(square, x, gy, ggx, dtype="float64")
    for checked_in, told in ((None, True), ("float64", False)):
        with pytest.raises(AssertionError, match="does not fit") as found:
            check_backward(lambda v: square(v, factor=2.01), x, gy, dtype=checked_in)
        assert ("may be rounding: give dtype='float64'" in str(found.value)) is told


def test_a_wrong_second_derivative_does_not_pass():
    class Wrong(FunctionNode):
        """Its gradient is right, its gradient's graph is not."""

        def forward(self, inputs):
            self.retain_inputs((0,))
            return (inputs[0] ** 3,)

        def backward(self, indexes, grad_outputs):
            (x,) = self.get_retained_inputs()
            return (grad_outputs[0] * x * 3.0 * Variable(x.array, requires_grad=False),)

    def wrong(x):
        return Wrong().apply((x,))[0]

    x, gy, ggx = arrays("numpy", (3,), (3,), (3,))
    check_backward(wrong, x, gy)
    with pytest.raises(AssertionError, match="does not fit"):
        check_double_backward(wrong, x, gy, ggx)


def test_nan_does_not_pass():
    x, gy = arrays("numpy", (3,), (3,))
    with pytest.raises(AssertionError, match="does not fit"):
        check_backward(lambda v: square(v, factor=float("nan")), x, gy)


def test_several_inputs_outputs_and_parameters():
    x, t, gy, gz = arrays("numpy", (3,), (3,), (3,), (3,))
    w = core.Parameter(arrays("numpy", (3,), seed=1)[0])
    kept = w.array

    def f(a, b):
        return a * b * w, a * a

    check_backward(f, (x, t), (gy, gz), params=w)
    check_backward(f, (x, t), (None, gz), params=(w,))
    ggx = arrays("numpy", (3,), (3,), (3,), seed=2)
    check_double_backward(f, (x, t), (gy, gz), tuple(ggx[:2]), w, ggx[2])
    assert w.array is kept and w.grad is None

    def forgets_w(a, b):
        return a * b * Variable(w.array, requires_grad=False), a * a

    with pytest.raises(AssertionError):
        check_backward(forgets_w, (x, t), (gy, gz), params=w)


@pytest.mark.parametrize("check", [check_backward, check_double_backward])
def test_parameters_get_their_shapes_in_a_call_before(check):
    import core.links as L

    x, gy, *second = arrays("numpy", (2, 4), (2, 3), (2, 4), (3, 4), (3,))
    link = L.Linear(None, 3)
    params, options = [link.W, link.b], {"dtype": "float64"}
    if check is check_double_backward:
        options["params_grad_grad"] = second[1:]
    check(lambda v: link(v) ** 2, x.astype("f"), gy, *second[: len(options) - 1], params, **options)
    assert link.W.shape == (3, 4)


def test_integer_inputs_have_no_gradient():
    x, gy = arrays("numpy", (3,), (2,))
    index = np.array([2, 0])
    check_backward(lambda a, i: a[i.array], (x, index), gy)
    check_backward(lambda a, b: a * b, (x, x), x, no_grads=[False, True])
    with pytest.raises(ValueError, match="expected 2 no_grads, got 1"):
        check_backward(lambda a, b: a * b, (x, x), x, no_grads=[True])


def test_a_scalar_needs_no_output_gradient():
    x = np.array([2.0])
    check_backward(square, x, None)
    with pytest.raises(ValueError, match="y_grad for 1 outputs"):
        check_backward(square, np.ones(3), None)


def test_what_does_not_depend_by_a_differentiable_path():
    x, gy = arrays("numpy", (3,), (3,))
    with pytest.raises(AssertionError, match="no output depends"):
        check_backward(lambda v: Variable(v.array * 2, requires_grad=False), x, gy)


def test_a_kink_is_named_when_asked():
    x, gy = np.array([0.0, 1.0]), np.ones(2)
    with pytest.raises(NondifferentiableError, match="no derivative"):
        check_backward(abs, x, gy, detect_nondifferentiable=True)


# -- assert_allclose -------------------------------------------------------------------------------


def test_assert_allclose_mixes_backends_variables_and_numbers():
    host, strict = np.ones(3), backend.get("strict").asarray(np.ones(3))
    assert_allclose(host, strict)
    assert_allclose(Variable(host), strict)
    assert_allclose(np.float32(1), 1.0)
    assert_allclose([1, 2], np.array([1, 2]))
    with pytest.raises(AssertionError):
        assert_allclose(host, backend.get("strict").asarray(np.ones(3) + 1e-3))
    with pytest.raises(AssertionError):
        assert_allclose(np.ones(3), np.ones(4))
    assert_allclose(np.ones(3), np.ones(3) + 0.1, atol=0.2)


# -- casts, and inputs without gradient ------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_function_that_casts_is_checked_in_another_dtype(dtype):
    x, gy, gg = (np.linspace(-1, 1, 6, dtype="f").reshape(2, 3) + i for i in (0.1, 0.2, 0.3))
    near = {"eps": 2.0**-2, "atol": 1e-2, "rtol": 1e-2}

    def cast(x):
        return F.cast(x, dtype)

    check_backward(cast, x, gy.astype(dtype), dtype="float64", **near)
    check_double_backward(lambda x: cast(x * x), x, gy, gg, dtype="float64", **near)


@pytest.mark.parametrize("error", [AssertionError, RuntimeError])
def test_an_input_without_gradient_is_named(error):
    x, z, gy = arrays("numpy", (2, 3), (2, 3), (2, 3))
    w = core.Parameter(z.copy(), name="w")
    with pytest.raises(error, match=r"input 1 gets no gradient.*no_grads=\[False, True\]"):
        check_backward(lambda x, z: x * 2, (x, z), gy)
    with pytest.raises(error, match="input 0 gets no gradient"):
        check_backward(lambda x, z: Variable(x.array) * z, (x, z), gy)
    check_backward(lambda x: x * 2, x, gy, w)
    check_backward(lambda x, z: x * 2, (x, z), gy, no_grads=[False, True])


def test_second_derivatives_may_be_zero():
    x, gy, gg = arrays("numpy", (2, 3), (2, 3), (2, 3))
    check_double_backward(lambda x: x * 2, x, gy, gg)
    with pytest.raises(ValueError, match="y_grad for 1 outputs, got 2"):
        check_double_backward(lambda x: x * x, x, (gy, gy), gg)
