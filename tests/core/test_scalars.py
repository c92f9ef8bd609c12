"""Scalars: what is a number, and which form it takes, of whatever type it comes."""

import enum
import operator

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core.errors.scalars import is_number, is_scalar, is_single, is_whole, python_number

TYPES = [*map(np.dtype, "?bhiqBHIQefdFD"), np.dtype(ml_dtypes.bfloat16)]
small = st.integers(0, 1)


class Two(enum.IntEnum):
    """A number that is of Python's int by inheritance only."""

    two = 2


@given(number=small, dtype=st.sampled_from(TYPES))
def test_a_scalar_of_numpy_is_a_number_and_an_array_without_dimensions_is_none(number, dtype):
    scalar = dtype.type(number)
    assert is_scalar(scalar) and is_number(scalar) and is_single(scalar)
    array = np.asarray(scalar)
    assert is_single(array) and not is_scalar(array) and not is_number(array)
    for one in (scalar, array):
        assert python_number(one) == number
        assert type(python_number(one)) in (bool, int, float, complex)
    assert is_whole(scalar) == (dtype.kind in "iu" or hasattr(scalar, "__index__"))  # older bools


@given(st.one_of(small, st.floats(allow_nan=False), st.booleans(), st.complex_numbers()))
def test_a_number_of_python_is_given_back(number):
    assert is_number(number) and not is_scalar(number) and not is_single(number)
    assert python_number(number) is number


@pytest.mark.parametrize("place", ["numpy", "strict"])
def test_arrays_and_variables_are_no_numbers(place):
    home = core.backend.get(place)
    for array in (home.asarray(2.0), home.asarray([1, 2])):
        for value in (array, core.Variable(array), core.Parameter(array)):
            assert not is_number(value) and not is_scalar(value)
            assert is_single(value) == (value is array and array.shape == ())
    assert not is_number(core.Parameter())


@pytest.mark.parametrize("value", ["1", None, [1], (), object(), np.arange(2), {}])
def test_anything_else_is_given_back(value):
    assert not is_number(value) and not is_whole(value)
    assert python_number(value) is value


@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.sub, operator.truediv])
def test_operators_take_members_of_an_enumeration(op):
    x = core.Variable(np.array([1.0, 3.0], "f"))
    for mine, theirs in ((op(x, Two.two), op(x, 2)), (op(Two.two, x), op(2, x))):
        np.testing.assert_array_equal(mine.array, theirs.array, strict=True)


@pytest.mark.parametrize("place", ["numpy", "strict"])
@pytest.mark.parametrize("number", [2, np.float32(2), np.int64(2), Two.two])
def test_an_array_is_filled_with_a_number_of_any_type(place, number):
    home = core.backend.get(place)
    array = home.asarray(np.zeros(3, "f"))
    home.copyto(array, number)
    np.testing.assert_array_equal(home.to_host(array), np.full(3, 2, "f"), strict=True)


@pytest.mark.parametrize("wrong", [np.arange(2), np.arange(1), True, 1.0])
@pytest.mark.parametrize("take", [core.seed, core.get_device])
def test_only_a_single_whole_number_is_a_seed_or_a_device(take, wrong):
    with pytest.raises((TypeError, core.errors.BackendError), match=rf"^{take.__name__}: expected"):
        take(wrong)
