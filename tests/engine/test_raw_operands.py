"""Raw arrays beside a Variable in an operator: they take its dtype, on either side."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core.errors import BackendError, InvalidType
from core.registry.backends import Backends

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


@pytest.mark.parametrize("debug", (False, True))
@given(
    operation=st.sampled_from((*ARITHMETIC, operator.floordiv, operator.mod, *COMPARISONS)),
    precision=st.sampled_from(("float16", "float32", "float64")),
    raw=st.sampled_from(("bool", "int8", "int64", "float32", "float64")),
    shape=st.sampled_from(((), (3,), (2, 1))),
    left=st.booleans(),
)
def test_they_are_cast(debug, operation, precision, raw, shape, left):
    values = np.array([1.25, 2.5, 3.0], precision)
    array = np.ones(shape, raw) * (raw != "bool") + np.ones(shape, raw)
    array = array.astype(raw)
    x = core.Variable(values)
    with core.using_config("debug", debug):
        y = operation(array, x) if left else operation(x, array)
    same = array.astype(precision)
    expected = operation(same, values) if left else operation(values, same)
    assert isinstance(y, core.Variable)
    assert y.dtype == expected.dtype
    np.testing.assert_array_equal(y.array, expected)
    if operation in ARITHMETIC:
        core.functions.sum(y).backward()
        assert x.grad.dtype == precision


def test_integers_are_not_made_of_real_numbers():
    with pytest.raises(InvalidType):
        core.Variable(np.arange(3)) * np.ones(3)


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul])
@pytest.mark.parametrize("number", [np.int64(3), np.uint8(2), np.int16(-1)])
def test_scalars_of_numpy_count_truth_values_from_either_side(operation, number):
    x = core.Variable(np.array([True, False]))
    for found, expected in (
        (operation(number, x), operation(int(number), x)),
        (operation(x, number), operation(x, int(number))),
    ):
        assert found.dtype == expected.dtype == np.int64
        np.testing.assert_array_equal(found.array, expected.array)


@pytest.mark.parametrize("operation", COMPARISONS)
@pytest.mark.parametrize("number", [0, 1, np.int64(1), np.uint8(0)])
def test_truth_values_are_compared_with_0_and_1(operation, number):
    truth = np.array([True, False])
    x = core.Variable(truth)
    for y, expected in (
        (operation(x, number), operation(truth, number)),
        (operation(number, x), operation(number, truth)),
    ):
        assert isinstance(y, core.Variable) and y.dtype == bool
        np.testing.assert_array_equal(y.array, expected)
    for other in (2, -1):
        with pytest.raises(TypeError):
            operation(x, other)


@pytest.mark.parametrize("operation", COMPARISONS)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "float32"])
def test_scalars_of_numpy_are_compared_from_either_side(operation, dtype):
    values = np.arange(5, dtype=dtype)
    x = core.Variable(values)
    for number in (np.int64(3), np.uint8(3), np.int8(3)):
        np.testing.assert_array_equal(operation(number, x).array, operation(3, values))
        np.testing.assert_array_equal(operation(x, number).array, operation(values, 3))


NO_NUMBERS = {
    "objects": np.array([1.0, None]),
    "texts": np.array(["1", "2"]),
    "dates": np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"),
    "records": np.array([(1.0,), (2.0,)], [("a", "f4")]),
}


@pytest.mark.parametrize("operation", [*ARITHMETIC, operator.floordiv, operator.lt, operator.eq])
@pytest.mark.parametrize("raw", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_what_is_no_number_is_refused_not_cast(operation, raw):
    x = core.Variable(np.ones(2, "f"))
    with pytest.raises(InvalidType, match="dtype is (known|real-valued|floating)"):
        operation(x, raw)


@pytest.mark.parametrize("function", [core.functions.exp, core.functions.sum, lambda x: x * 2.0])
def test_records_are_no_floating_numbers(function):
    x = core.Variable(NO_NUMBERS["records"])
    with pytest.raises(InvalidType, match="Actual: (record|void)"):
        function(x)


def test_other_operations_refuse():
    with pytest.raises(InvalidType):
        core.functions.maximum(core.Variable(np.ones(3, "f")), np.ones(3))


def test_no_backend_is_asked_about_a_number(monkeypatch):
    asked = []
    monkeypatch.setattr(Backends, "of_type", lambda self, kind: asked.append(kind))
    x = core.Variable(np.ones(3, "f"))
    for number in (2, 2.0, True, np.float64(2), np.float32(2), np.sqrt(4)):
        assert (x / number).dtype == (number - x).dtype == np.float32
    assert not asked


def test_backends_are_asked_once_about_a_type_that_is_no_array(monkeypatch):
    class Other:
        pass

    x, asked, of_type = core.Variable(np.ones(3, "f")), [], Backends.of_type
    refused = [str(pytest.raises(BackendError, core.backend.of, Other()).value) for _ in range(2)]
    assert refused[0] == refused[1] and "Other" in refused[0]
    assert not (x == x + 1).array.any()
    monkeypatch.setattr(Backends, "of_type", lambda s, k: asked.append(k) or of_type(s, k))
    assert (x == x).array.all() and (x // x).array.all() and (x % 2 == x).array.all()
    with pytest.raises(BackendError, match="Other"):
        core.backend.of(Other())
    assert not asked
    home = type(core.backend.host())
    strangers = type("Strangers", (home,), {"name": "strangers", "array_type": Other})()
    core.backend.register(strangers)
    try:
        assert core.backend.of(Other()) is strangers  # which may come later
    finally:
        core.backend.unregister(strangers)
