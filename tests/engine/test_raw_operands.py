"""Raw arrays beside a Variable in an operator: they take its dtype, on either side."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core.errors import InvalidType
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
