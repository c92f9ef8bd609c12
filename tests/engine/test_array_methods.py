"""The methods that arrays have, on Variables: NumPy's values, differentiable where they are."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import core
from core import Variable
from core.errors import InvalidType
from core.graph import array_api
from core.graph.methods import Methods
from core.testing.gradient_check import check_backward

A = np.random.default_rng(0).uniform(-2, 2, (2, 1, 3))

DIFFERENTIABLE = {
    "sum": [lambda x: x.sum(), lambda x: x.sum(0), lambda x: x.sum((0, 2), keepdims=True)],
    "max": [lambda x: x.max(), lambda x: x.max(2), lambda x: x.max(axis=0, keepdims=True)],
    "min": [lambda x: x.min(), lambda x: x.min(axis=-1)],
    "var": [lambda x: x.var(), lambda x: x.var(2, ddof=1), lambda x: x.var((0, 2), keepdims=True)],
    "std": [lambda x: x.std(), lambda x: x.std(0, ddof=1)],
    "cumsum": [lambda x: x.cumsum(), lambda x: x.cumsum(2)],
    "clip": [lambda x: x.clip(-1, 1), lambda x: x.clip(0), lambda x: x.clip(max=0.5)],
    "astype": [lambda x: x.astype("float64"), lambda x: x.astype(x.dtype, copy=False)],
    "copy": [lambda x: x.copy()],
    "ravel": [lambda x: x.ravel()],
    "flatten": [lambda x: x.flatten()],
    "squeeze": [lambda x: x.squeeze(), lambda x: x.squeeze(1)],
    "reshape": [lambda x: x.reshape(3, -1), lambda x: x.reshape((6,)), lambda x: x.reshape(6)],
    "transpose": [lambda x: x.transpose(), lambda x: x.transpose(0, 2, 1), lambda x: x.T],
    "mean": [lambda x: x.mean(), lambda x: x.mean((0, 2), keepdims=True)],
    "swapaxes": [lambda x: x.swapaxes(0, -1)],
    "repeat": [lambda x: x.repeat(2), lambda x: x.repeat([1, 3], 0)],
    "dot": [
        lambda x: x.dot(2.0),
        lambda x: x.dot(np.arange(3.0)),
        lambda x: x.dot(np.arange(6.0).reshape(3, 2)),
        lambda x: x.ravel().dot(np.arange(6.0)),
        lambda x: x.dot(np.arange(12.0).reshape(2, 3, 2)),
    ],
}
CONSTANT = {
    "argmax": [lambda x: x.argmax(), lambda x: x.argmax(2, keepdims=True)],
    "argmin": [lambda x: x.argmin(), lambda x: x.argmin(axis=0)],
    "any": [lambda x: (x > 1).any(), lambda x: (x > 1).any(0, keepdims=True)],
    "all": [lambda x: (x > -2).all(), lambda x: (x > 0).all(axis=(0, 1))],
    "round": [lambda x: x.round(), lambda x: x.round(2), lambda x: (x * 100).round(-1)],
}


def calls(table):
    return [pytest.param(f, id=f"{name}-{i}") for name in table for i, f in enumerate(table[name])]


def test_every_method_has_a_case():
    methods = {name for name, _ in inspect.getmembers(Methods, inspect.isfunction)}
    assert methods == DIFFERENTIABLE.keys() | CONSTANT.keys()


@pytest.mark.parametrize("call", calls(DIFFERENTIABLE | CONSTANT))
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_values_and_dtypes_are_numpys(call, dtype):
    array = (A * (1 if "float" in dtype else 4)).astype(dtype)
    try:
        expected = np.asarray(call(array))
        found = call(Variable(array, requires_grad=False))
    except (TypeError, ValueError) as error:  # integers beside real numbers, or have no deviation
        assert "int" in dtype and ("whole numbers" in str(error) or "floating" in str(error))
        return
    assert isinstance(found, Variable) and found.shape == expected.shape
    assert found.dtype == expected.dtype or dtype == "float32"  # arrays beside it take its dtype
    np.testing.assert_allclose(found.array, expected, rtol=1e-5)


@pytest.mark.parametrize("call", calls(DIFFERENTIABLE))
def test_gradients(call):
    g = np.random.default_rng(1).normal(size=np.shape(call(A)))
    check_backward(call, (A.copy(),), g, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "call", calls(DIFFERENTIABLE | CONSTANT | {"dot": [lambda x: x.dot(x[0].T)]})
)
def test_the_referee_agrees(call):
    strict = core.backend.get("strict")
    found = call(Variable(strict.asarray(A)))
    assert found.backend is strict
    np.testing.assert_allclose(strict.to_host(found.array), call(A), rtol=1e-12)


@pytest.mark.parametrize("call", calls(CONSTANT))
def test_the_others_want_none(call):
    assert not call(Variable(A)).requires_grad


def test_copies_have_memory_of_their_own():
    x = Variable(np.ones(3, "f"), requires_grad=False)
    assert np.shares_memory(x.ravel().array, x.array)
    for y in (x.copy(), x.flatten(), x.astype("float32")):
        assert not np.shares_memory(y.array, x.array)
    assert np.shares_memory(x.astype("float32", copy=False).array, x.array)
    for y in (x.copy(), x.flatten(), np.array(x), np.array(x, "f", copy=True)):
        assert not np.shares_memory(np.asarray(y), x.array)
    for dtype in ("float64", np.dtype("float64")):  # to NumPy the latter equals None
        with pytest.raises(ValueError, match="copy=False"):
            x.__array__(dtype, copy=False)
    p = core.Parameter(np.ones(3, "f"))
    p.copy().sum().backward()
    assert p.grad.tolist() == [1, 1, 1] and type(p.copy()) is Variable


def test_numbers_as_they_are_written():
    loss = Variable(np.array(2.34567, "f"))
    assert f"{loss:.3f} {loss:8.1e}" == "2.346  2.3e+00" and f"{loss}" == str(loss)
    assert f"{Variable(np.array([[3]])):04d}" == "0003"
    assert round(loss, 2) == 2.35 and round(loss) == 2 and type(round(loss)) is int
    assert Variable(np.array([[1, 2]])).tolist() == [[1, 2]] and loss.tolist() == loss.item()
    with pytest.raises(TypeError, match=r"expected one element, got the shape \(2,\)"):
        f"{Variable(np.ones(2)):.2f}"


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_whole_numbers_are_rounded_to_tens_as_by_numpy(dtype):
    low = max(np.iinfo(dtype).min, -10_000)
    x = np.arange(low, min(np.iinfo(dtype).max, 10_000), dtype=dtype)
    for decimals in range(-5, 0):
        expected = np.round(x, decimals)
        y = Variable(x).round(decimals)
        assert y.dtype == x.dtype and not y.requires_grad
        np.testing.assert_array_equal(y.array, expected)


def test_elements_one_by_one():
    x = Variable(A)
    assert [y.shape for y in x] == [(1, 3), (1, 3)] and list(iter(x))[1].requires_grad
    assert max(Variable(np.array([1.0, 3.0, 2.0]))).item() == 3
    assert list(Variable(A[:0])) == []
    with pytest.raises(TypeError, match="without dimensions"):
        iter(Variable(np.array(1.0)))


@pytest.mark.parametrize(
    ("elements", "sought"),
    [(A, 2.0), (A, 99.0), (A, A[1]), (A, np.nan), (A[:0], 1.0), (np.array(2), 2), (A > 1, True)],
)
def test_an_array_of_any_axes_contains_what_an_element_equals(elements, sought):
    found = sought in Variable(elements)
    assert found is bool(sought in elements)
    assert None not in Variable(elements)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64"])
def test_quotient_and_rest_at_once_as_of_arrays(dtype):
    x = np.array([9, 4, 7], dtype)
    for found, expected in (
        (divmod(Variable(x), 4), divmod(x, 4)),
        (divmod(50, Variable(x)), divmod(50, x)),
        (divmod(x[::-1], Variable(x)), divmod(x[::-1], x)),
        (divmod(Variable(x), Variable(x[::-1])), divmod(x, x[::-1])),
    ):
        assert [y.dtype for y in found] == [dtype, dtype]
        np.testing.assert_array_equal([y.array for y in found], expected)
    with pytest.raises(TypeError, match="unsupported operand"):
        divmod(Variable(x), None)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min", "any", "all"])
def test_axes_that_are_not_there_are_told_with_the_function(name, dtype):
    x = Variable(A.astype(dtype))
    for axis in (3, -4):
        with pytest.raises(InvalidType) as refusal:
            getattr(x, name)(axis)
        assert refusal.value.operation.lower() == name
    if name.startswith("arg"):
        with pytest.raises(TypeError, match=f"{name}: expected axis to be a whole number or None"):
            getattr(x, name)((0, 1))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min"])
def test_of_nothing_there_is_no_greatest_element(name, dtype):
    nothing = Variable(np.zeros((0, 3), dtype))
    assert getattr(nothing, name)(1).shape == (0,)
    for axis in (None, 0):
        with pytest.raises(InvalidType) as refusal:
            getattr(nothing, name)(axis)
        assert refusal.value.operation.lower() == name


def test_one_size_at_most_is_worked_out():
    with pytest.raises(InvalidType, match=r"Reshape(.*\n)*.*count\(-1\) < 2"):
        Variable(A).reshape(-1, -1)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64"])
@pytest.mark.parametrize("shapes", [((2, 3), (3, 2)), ((3,), (3,)), ((2, 2, 3), (3,))])
def test_the_operator_multiplies_matrices_of_integers(shapes, dtype):
    a, b = [np.arange(np.prod(shape)).reshape(shape).astype(dtype) for shape in shapes]
    for y in (Variable(a) @ Variable(b), Variable(a) @ b, a @ Variable(b)):
        assert y.dtype == dtype and not y.requires_grad
        np.testing.assert_array_equal(y.array, a @ b)


def test_truth_values_are_not_divided():
    truth = np.array([True, True])
    with pytest.raises(InvalidType, match="x.dtype is real-valued"):
        Variable(truth) // truth


def test_elements_one_by_one_have_one_function_whose_gradient_is_made_once():
    x = Variable(np.arange(12.0).reshape(4, 3))
    first, _, *_, last = rows = tuple(x)
    assert len({id(row.creator) for row in rows}) == 1
    (first * last).sum().backward()
    expected = np.zeros((4, 3))
    expected[0], expected[3] = x.array[3], x.array[0]
    np.testing.assert_array_equal(x.grad, expected)


def asked():
    """What the core asks modules for that are loaded late, as `array_api.shown.text`."""
    texts = [path.read_text("utf-8") for path in Path(core.__path__[0]).rglob("*.py")]
    return {pair for text in texts for pair in re.findall(r"array_api\.(\w+)\.(\w+)", text)}


def test_modules_above_give_what_variables_ask_of_them():
    assert {name for name, _ in asked()} == set(array_api.LATE)
    lacking = [pair for pair in asked() if not hasattr(getattr(array_api, pair[0]), pair[1])]
    assert not lacking
