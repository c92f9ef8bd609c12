"""Variable: what it shows, how it computes, and how it meets NumPy and other worlds."""

import copy
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes
from samples import array, ones, tanh, total, variable

import core
from core import Variable
from core.errors import GraphError, UnknownName

BACKENDS = ["numpy", "strict"]
ARITHMETIC = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.floordiv,
]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def host(v):
    return core.backend.to_host(v)


@st.composite
def pairs(draw):
    """Two arrays of shapes that broadcast, of one dtype and one backend."""
    shapes = draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4))
    seed = draw(st.integers(0, 999))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    generator = np.random.default_rng(seed)
    arrays = [generator.uniform(0.5, 3, shape).astype(dtype) for shape in shapes.input_shapes]
    backend = core.backend.get(draw(st.sampled_from(BACKENDS)))
    return arrays, [backend.asarray(a) for a in arrays]


# -- making ----------------------------------------------------------------------------------------


def test_what_it_shows():
    a = np.arange(6, dtype="f").reshape(2, 3)
    x = Variable(a, name="x")
    assert x.array is a and x.data is a and x.grad is None and x.grad_var is None
    assert x.shape == (2, 3) and x.ndim == 2 and x.size == 6 and x.dtype == np.float32
    assert x.name == "x" and x.label == "(2, 3), float32" and x.rank == 0 and x.creator is None
    assert x.requires_grad and x.xp is np and x.backend is core.backend.get("numpy")
    assert str(x.device) == "numpy" and x.node.requires_grad and x.node is x.node
    assert x.T.shape == (3, 2) and len(x) == 2 and x.summary() == "<variable x>"


@pytest.mark.parametrize("data", [[1.0, 2.0], 3.0, "text", (1, 2)])
def test_only_arrays_make_variables(data):
    with pytest.raises(TypeError, match="expected an array of a backend .*numpy.*got"):
        Variable(data)


def test_an_argument_of_old_says_what_to_write():
    with pytest.raises((TypeError, ValueError), match="volatile.*no_backprop_mode"):
        Variable(ones(2), volatile=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nam'"):
        Variable(ones(2), nam="x")


def test_a_gradient_from_the_start():
    x = Variable(ones(2), grad=ones(2))
    assert (x.grad == 1).all() and x.grad_var.array is x.grad
    assert Variable(ones(2), requires_grad=False).requires_grad is False


def test_a_variable_without_an_array():
    x = Variable()
    assert x.array is None and repr(x) == "variable(uninitialized)"
    x.array = ones(2)
    assert x.shape == (2,)


def test_an_array_may_be_replaced():
    x = variable(4)
    x.array = array(3, 2)
    assert (x * variable(3, 2)).shape == (3, 2) and x.node.shape == (3, 2)


def test_as_variable_and_as_array():
    x, a = variable(2), ones(2)
    assert core.as_variable(x) is x and core.as_array(x) is x.array and core.as_array(a) is a
    assert core.as_variable(a).array is a and not core.as_variable(a).requires_grad


# -- looks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [repr, str])
@pytest.mark.parametrize(
    "a",
    [
        np.arange(3, dtype="f"),
        np.arange(6, dtype="d").reshape(2, 3),
        np.arange(3),
        np.array(2.5, "e"),
        np.ones((2, 2, 2), "f"),
        np.zeros((0, 3), "f"),
        np.array([True, False]),
        np.arange(5000, dtype="f"),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_it_looks_like_numpys(make, a):
    text = make(Variable(a))
    assert text.startswith("variable(")
    inside = text.removeprefix("variable")
    expected = repr(a).removeprefix("array") if make is repr else f"({a})"
    assert inside.split() == expected.split()
    columns = {len(line) - len(line.lstrip()) for line in text.split("\n")[1:] if line.strip()}
    assert all(indent >= len("variable(") for indent in columns)


def test_names_are_shown():
    assert repr(Variable(np.ones(1, "f"), name="x")) == "variable x([1.], dtype=float32)"
    assert str(Variable(np.ones(1, "f"), name="x")) == "variable x([1.])"


def test_debug_print_tells_mean_and_spread():
    x = Variable(np.array([1, 3], "f"), name="x")
    x.grad = np.zeros(2, "f")
    text = x.debug_print()
    assert "<variable x>" in text and "backend: numpy" in text
    assert "data shape: (2,), dtype: float32" in text and "mean=2.00000000, std=1.00000000" in text
    assert "grad" in text and "None" in Variable(ones(1)).debug_print()


# -- one element -----------------------------------------------------------------------------------


def test_one_element_is_a_number_and_a_truth():
    x = Variable(np.array([2.5], "f"))
    assert x.item() == 2.5 and float(x) == 2.5 and int(x) == 2 and bool(x)
    assert not Variable(np.zeros((), "f"))
    with pytest.raises(ValueError, match="truth of a Variable of 2 elements is ambiguous"):
        bool(variable(2))
    with pytest.raises(TypeError, match="without dimensions"):
        len(Variable(np.ones((), "f")))


# -- operators -------------------------------------------------------------------------------------


@given(pairs(), st.sampled_from(ARITHMETIC))
def test_arithmetic_is_numpys(pair, op):
    (a, b), (x, y) = pair
    expected = op(a, b)
    for left, right in ((Variable(x), Variable(y)), (Variable(x), y), (x, Variable(y))):
        if not isinstance(left, Variable) and type(left) is not np.ndarray:
            continue  # the referee's arrays do not give way; see below
        z = op(left, right)
        assert type(z) is Variable and z.dtype == x.dtype and z.shape == expected.shape
        assert type(z.array) is type(x)
        np.testing.assert_allclose(host(z), expected, rtol=1e-5)


@given(pairs(), st.sampled_from(ARITHMETIC), st.sampled_from([2, 0.5, 3.0, np.float64(1.5)]))
def test_arithmetic_with_numbers_keeps_the_dtype(pair, op, number):
    (a, _), (x, _) = pair
    weak = float(number) if isinstance(number, np.generic) else number
    for z, expected in (
        (op(Variable(x), number), op(a, weak)),
        (op(number, Variable(x)), op(weak, a)),
    ):
        assert type(z) is Variable and z.dtype == x.dtype
        np.testing.assert_allclose(host(z), expected, rtol=2e-5)


@given(pairs(), st.sampled_from(COMPARISONS))
def test_comparisons_are_elementwise_and_without_gradient(pair, op):
    (a, b), (x, y) = pair
    z = op(Variable(x), Variable(y))
    assert type(z) is Variable and not z.requires_grad
    np.testing.assert_array_equal(host(z), op(a, b))
    np.testing.assert_array_equal(host(op(Variable(x), 1.5)), op(a, a.dtype.type(1.5)))


@given(pairs())
def test_unary_operators(pair):
    (a, _), (x, _) = pair
    np.testing.assert_array_equal(host(-Variable(x)), -a)
    np.testing.assert_array_equal(host(abs(-Variable(x))), a)
    assert (+Variable(x)).shape == a.shape


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize(
    "shapes",
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4))],
    ids=str,
)
def test_matrix_products_and_their_gradients(name, shapes):
    b = core.backend.get(name)
    a, c = (array(*shape, dtype="float64") for shape in shapes)
    z = Variable(b.asarray(a)) @ Variable(b.asarray(c))
    np.testing.assert_allclose(host(z), a @ c)
    core.gradient_check.check_backward(
        operator.matmul, (b.asarray(a), b.asarray(c)), b.asarray(np.ones_like(a @ c))
    )
    if name == "numpy":
        np.testing.assert_allclose(host(a @ Variable(c)), a @ c)
        np.testing.assert_allclose(host(Variable(a) @ c), a @ c)


def test_in_place_operators_make_new_variables():
    x = variable(3)
    kept, a = x, x.array.copy()
    x += 1
    x *= 2
    x -= 1
    x /= 2
    assert x is not kept
    np.testing.assert_array_equal(kept.array, a)
    total(x).backward()
    np.testing.assert_array_equal(kept.grad, ones(3))


def test_comparing_with_nothing_is_by_identity():
    x = variable(3)
    assert (x == None) is False and (x != None) is True  # noqa: E711 - the point of the test
    assert len({x, x, variable(3)}) == 2


@given(st.data())
def test_indexing_is_numpys_and_differentiable(data):
    a = np.arange(24, dtype="float64").reshape(2, 3, 4)
    index = data.draw(
        st.sampled_from(
            [
                1,
                -1,
                (0, 2),
                (slice(None), 1),
                (..., slice(None, None, -1)),
                None,
                (None, 1, ...),
                slice(1, 2),
                np.array([1, 0, 1]),
                (slice(None), np.array([0, 0, 2])),
                (np.array([0, 1]), np.array([1, 1])),
                a[:, :, 0] > 5,
                [0, 1, 1],
            ]
        )
    )
    x = Variable(a)
    np.testing.assert_array_equal(x[index].array, a[index])
    core.gradient_check.check_backward(lambda v: v[index], a.copy(), np.ones_like(a[index]))
    core.gradient_check.check_double_backward(
        lambda v: v[index] ** 2, a / 10, np.ones_like(a[index]), np.ones_like(a)
    )


def test_an_index_may_be_a_variable():
    x, i = variable(4), Variable(np.array([2, 2, 0]))
    y = x[i]
    np.testing.assert_array_equal(y.array, x.array[[2, 2, 0]])
    total(y).backward()
    np.testing.assert_array_equal(x.grad, [1, 0, 2, 0])


@pytest.mark.parametrize("args", [(6,), (-1,), (3, 2), ((3, 2),), ([2, -1],)], ids=str)
def test_reshape_and_transpose(args):
    x = variable(2, 3)
    np.testing.assert_array_equal(x.reshape(*args).array, x.array.reshape(*args))
    np.testing.assert_array_equal(x.transpose().array, x.array.T)
    np.testing.assert_array_equal(x.transpose(1, 0).array, x.array.T)
    np.testing.assert_array_equal(x.transpose((-1, 0)).array, x.array.T)
    total(x.reshape(*args) * 2).backward()
    np.testing.assert_array_equal(x.grad, np.full((2, 3), 2, "f"))


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (
            lambda: variable(3) + variable(4),
            r"_ \+ _ \(Forward\)(.|\n)*Expect: .*broadcast(.|\n)*\(4,\)",
        ),
        (lambda: variable(3) * Variable(np.ones(3)), r"_ \* _(.|\n)*Actual: float32 != float64"),
        (lambda: variable(2, 3) @ variable(2, 3), r"MatMul(.|\n)*Expect: .*Actual: 3 != 2"),
        (lambda: tanh(variable(3)).reshape(2, 2), r"Reshape"),
        (lambda: variable(3)[5], "out of bounds|out of range"),
    ],
)
def test_what_does_not_fit_says_what_was_expected_and_what_came(compute, message):
    with pytest.raises((core.errors.InvalidType, IndexError)) as caught:
        compute()
    import re

    assert re.search(message, str(caught.value).replace("\nActual", " Actual")) or re.search(
        message, str(caught.value)
    )


def test_mixed_backends_are_named_with_the_cure():
    x = variable(3)
    y = Variable(core.backend.get("strict").asarray(ones(3)))
    for compute in (lambda: x * y, lambda: y + x, lambda: x * y.array, lambda: x @ y):
        with pytest.raises(
            core.backend.BackendError, match="numpy.*strict|strict.*numpy"
        ) as caught:
            compute()
        assert "to_device" in str(caught.value)


def test_mixed_devices_are_named_with_the_cure():
    strict = core.backend.get("strict")
    here, there = strict.devices()[:2]
    x = Variable(strict.asarray(ones(3), device=here))
    y = Variable(strict.asarray(ones(3), device=there))
    mixed = r"x on strict:0 and y on strict:1.*to_device"
    with pytest.raises(core.backend.BackendError, match=mixed):
        x * y
    z = x * y.to_device(here)
    assert z.device == here


def test_an_unknown_operand_is_not_ours():
    for operand in ("text", object(), None, {}):
        with pytest.raises(TypeError):
            variable(3) + operand
        with pytest.raises(TypeError):
            operand * variable(3)


# -- NumPy's own functions -------------------------------------------------------------------------


def test_an_array_times_a_variable_is_a_variable():
    x, a = variable(3), array(3)
    for y, slope in (
        (a * x, a),
        (a + x, ones(3)),
        (a - x, -ones(3)),
        (np.float32(2) * x, 2 * ones(3)),
    ):
        assert type(y) is Variable
        x.cleargrad()
        total(y).backward()
        np.testing.assert_allclose(x.grad, slope)
    assert (a < x).dtype == bool and type(a @ x) is Variable


def test_numpys_ufuncs_and_functions_stay_differentiable():
    x = variable(2, 3)
    for y, expected in (
        (np.multiply(x, 2), x.array * 2),
        (np.log(x), np.log(x.array)),
        (np.absolute(x), x.array),
        (np.negative(x), -x.array),
        (np.power(x, 2), x.array**2),
        (np.true_divide(x, x), ones(2, 3)),
        (np.sum(x), x.array.sum()),
        (np.sum(x, axis=0), x.array.sum(axis=0)),
        (np.reshape(x, (3, 2)), x.array.reshape(3, 2)),
        (np.transpose(x), x.array.T),
        (np.matmul(x, x.T), x.array @ x.array.T),
        (np.where(x > 0.5, x, x * 0), np.where(x.array > 0.5, x.array, 0)),
        (np.broadcast_to(x, (2, 2, 3)), np.broadcast_to(x.array, (2, 2, 3))),
    ):
        assert type(y) is Variable and y.creator is not None
        np.testing.assert_allclose(y.array, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda x: np.gcd(x, x), "numpy.gcd has no differentiable counterpart.*array"),
        (lambda x: np.add.reduce(x), "numpy.add.reduce is not differentiable"),
        (lambda x: np.add(x, x, out=ones(3)), "numpy.add with out="),
        (lambda x: np.add(x, x, where=x.array > 0), "numpy.add on Variables takes no 'where'"),
        (lambda x: np.linalg.eig(x), "numpy.eig has no differentiable counterpart"),
        (lambda x: np.nanmedian(x), "numpy.nanmedian has no differentiable counterpart"),
    ],
)
def test_what_numpy_cannot_differentiate_is_refused_by_name(compute, message):
    with pytest.raises(TypeError, match=message):
        compute(variable(3))


def test_adding_a_variable_into_an_array_is_refused():
    a, x = array(3), variable(3)
    kept = a.copy()
    with pytest.raises(TypeError, match="lose its history. Write `array . variable`"):
        a *= x
    np.testing.assert_array_equal(a, kept)


def test_a_gradient_is_not_lost_without_a_word():
    x = variable(3)
    for lose in (np.asarray, np.array, lambda v: np.from_dlpack(v)):
        with pytest.raises((TypeError, BufferError), match="needs a gradient.*array"):
            lose(x)
    with core.no_backprop_mode():
        np.testing.assert_array_equal(np.asarray(x), x.array)
    constant = variable(3, requires_grad=False)
    np.testing.assert_array_equal(np.asarray(constant), constant.array)
    np.testing.assert_array_equal(np.asarray(constant, "float64"), constant.array.astype("d"))
    np.testing.assert_array_equal(np.from_dlpack(constant), constant.array)


def test_the_differentiable_namespace():
    x = variable(2, 3)
    xp = x.__array_namespace__()
    y = xp.sum(xp.multiply(x, x), axis=1)
    assert type(y) is Variable and "sum" in dir(xp) and "differentiable" in repr(xp)
    total(y).backward()
    np.testing.assert_allclose(x.grad, 2 * x.array)
    assert pickle.loads(pickle.dumps(xp)) is xp
    with pytest.raises(UnknownName, match="no 'multipli'.*Did you mean 'multiply'"):
        xp.multipli  # noqa: B018


# -- gradients and data ----------------------------------------------------------------------------


def test_gradients_are_set_cleared_and_added():
    x = variable(2)
    x.grad = ones(2)
    assert x.grad_var.array is x.grad and type(x.grad_var) is Variable
    x.zerograd()
    assert (x.grad == 0).all()
    x.cleargrad()
    assert x.grad is None
    y = variable(2)
    x.addgrad(y)
    assert x.grad is None
    y.grad = ones(2)
    x.addgrad(y)
    x.addgrad(y)
    assert (x.grad == 2).all()
    with pytest.raises(TypeError, match="got a Variable. Set grad_var"):
        x.grad = y


def test_gradients_without_axes_are_added_also_where_somebody_holds_them():
    held = np.ones((), "f")
    x, y = Variable(np.ones((), "f")), Variable(np.ones((), "f"))
    x.grad, y.grad = held, held
    x.addgrad(y)
    assert type(x.grad) is np.ndarray and x.grad == 2 and held == 1


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("before", [ones(3), ones(1), ones(2).astype("d")])
def test_a_gradient_from_before_the_array_changed_is_not_broadcast(before, recorded):
    x = Variable(before)
    x.grad = before
    x.array = ones(2)
    with pytest.raises((ValueError, TypeError), match=r"from before its array .* cleargrad\(\)"):
        core.functions.sum(x * x).backward(enable_double_backprop=recorded)
    assert x.grad is before
    x.cleargrad()
    core.functions.sum(x * x).backward(enable_double_backprop=recorded)
    assert (x.grad == 2).all()


@pytest.mark.parametrize("other", [ones(1), ones(3), ones(2).astype("d")])
def test_gradients_of_another_form_are_not_added(other):
    x, y = variable(2), Variable(other, grad=other)
    x.grad = ones(2)
    with pytest.raises((ValueError, TypeError), match="gradient of a variable: expected"):
        x.addgrad(y)
    assert (x.grad == 1).all()


@pytest.mark.parametrize("name", BACKENDS)
def test_copydata_and_addgrad_cross_backends(name):
    b = core.backend.get(name)
    x, y = variable(2), Variable(b.asarray(np.array([7, 8], "f")))
    y.grad = b.asarray(ones(2))
    kept = x.array
    x.copydata(y)
    assert x.array is kept and x.array.tolist() == [7, 8]
    x.addgrad(y)
    assert type(x.grad) is np.ndarray
    with pytest.raises(ValueError, match=r"expected the shape \(2,\), got \(3,\)"):
        x.copydata(variable(3))


def test_to_device_moves_in_place():
    x = variable(2)
    x.grad = ones(2)
    assert x.to_device("strict") is x and x.backend.name == "strict"
    assert type(x.grad) is core.backend.get("strict").array_type
    assert x.to_cpu() is x and type(x.array) is type(x.grad) is np.ndarray
    y = x * x
    total(y).backward()
    np.testing.assert_allclose(x.grad, 1 + 2 * x.array)


# -- copies ----------------------------------------------------------------------------------------


def test_pickling_and_deep_copies():
    x = Variable(array(3), name="x", grad=ones(3))
    for duplicate in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert duplicate.name == "x" and duplicate.requires_grad and duplicate.creator is None
        np.testing.assert_array_equal(duplicate.array, x.array)
        np.testing.assert_array_equal(duplicate.grad, x.grad)
        assert duplicate.array is not x.array and duplicate.node is not x.node
        total(duplicate * 2).backward()
    assert (x.grad == 1).all()
    shallow = copy.copy(x)
    assert shallow.array is x.array and shallow.node is not x.node
    assert not pickle.loads(pickle.dumps(variable(2, requires_grad=False))).requires_grad


@pytest.mark.parametrize("copying", [pickle.dumps, copy.deepcopy], ids=["pickle", "deepcopy"])
def test_graphs_are_not_copied_by_name(copying):
    y = variable(3) * 2
    with pytest.raises(GraphError, match="_ . 2 is part of a graph.*unchain"):
        copying(y)
    with pytest.raises(GraphError, match="_ . 2.*graph"):
        copying(y.creator)
    y.unchain()
    copying(y)


# -- parameters ------------------------------------------------------------------------------------


def test_a_parameter_is_made_at_once_or_later():
    p = core.Parameter(0.5, (2, 3), name="p")
    assert p.is_initialized and p.array.dtype == np.float32 and (p.array == 0.5).all()
    assert p.name == "p" and p.requires_grad and p.update_rule is None and p.version == 0
    later = core.Parameter(0.5)
    assert later.array is None and not later.is_initialized
    unmade = core.Parameter()
    assert not unmade.is_initialized and unmade.array is None and unmade.dtype is None
    assert repr(unmade) == "variable(uninitialized)"
    unmade.initialize((2,))
    assert unmade.is_initialized and np.isnan(unmade.array).all()
    kept = unmade.array
    unmade.initialize((5,))
    assert unmade.array is kept


def test_a_parameter_of_an_array_is_made_of_it():
    array = np.arange(3, dtype="f")
    assert core.Parameter(array).array is array
    assert core.Parameter(array, (3,)).array is not array
    with pytest.raises(ValueError, match=r"expected an array of shape \(2,\), got \(3,\)"):
        core.Parameter(array, (2,))


def test_a_parameter_of_a_variable_is_made_of_its_array():
    x = variable(2)
    assert core.Parameter(x).array is x.array is not core.Parameter(x, (2,)).array
    made = core.Parameter(x * 2)
    assert made.creator is None and made.array.tolist() == (x.array * 2).tolist()


def test_a_parameter_of_a_number_without_shape_waits_for_one():
    parameter = core.Parameter(3)
    assert not parameter.is_initialized
    parameter.initialize((2,))
    assert parameter.array.tolist() == [3, 3]


def test_an_uninitialized_parameter_is_refused_by_operations():
    with pytest.raises(GraphError, match="uninitialized"):
        core.Parameter() * 2
    with pytest.raises(GraphError, match="uninitialized"):
        variable(3) + core.Parameter()
    of_a_number = core.Parameter(2.5)
    with pytest.raises(GraphError, match=r"its shape: Parameter\(1\.0, \(\)\) is one number"):
        of_a_number * np.ones(3)
    assert (core.Parameter(2.5, ()) * np.ones(3, "f")).shape == (3,)


def test_an_uninitialized_parameter_remembers_zeros_and_devices():
    p = core.Parameter()
    p.zerograd()
    p.to_device("strict")
    p.initialize((2,))
    assert p.backend.name == "strict" and host(p.grad_var).tolist() == [0, 0]
    q = core.Parameter()
    q.cleargrad()
    q.initialize((2,))
    assert q.grad is None


def test_parameters_pickle_and_copy():
    p = core.Parameter(0.5, (2,), name="p")
    p.version = 3
    for duplicate in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p)):
        assert (
            type(duplicate) is core.Parameter and duplicate.version == 3 and duplicate.name == "p"
        )
    unmade = pickle.loads(pickle.dumps(core.Parameter()))
    unmade.initialize((3,))
    assert unmade.shape == (3,)


def test_a_parameters_update_goes_through_its_rule():
    calls = []
    p = core.Parameter(0.5, (2,))
    p.update()
    p.update_rule = type("Rule", (), {"update": lambda self, param: calls.append(param)})()
    p.update()
    assert calls == [p]


def test_parameters_are_found_beside_variables():
    from core.graph import variable

    assert variable.Parameter is core.Parameter
    with pytest.raises(AttributeError, match="no attribute 'Paramter'"):
        _ = variable.Paramter
