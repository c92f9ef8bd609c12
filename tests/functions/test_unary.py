"""Functions that an operation declares in full are as if they were written by hand."""

import inspect
import pickle
import sys
import typing

import numpy as np
import pytest

import core
import core.functions as F
from core import Domain, Elementwise, integers, real
from plugins.functions.unary import SECTIONS, function_of

NAMES = [
    name
    for name in core.registry.catalogue("functions").names()
    if inspect.isclass(getattr(getattr(F, name), "template", None))
]


def test_they_are_many():
    assert len(NAMES) >= 35


@pytest.mark.parametrize("name", NAMES)
def test_it_stands_where_it_says(name):
    function = getattr(F, name)
    assert function.__name__ == function.__qualname__ == function.__code__.co_name == name
    assert vars(sys.modules[function.__module__])[name] is function
    assert pickle.loads(pickle.dumps(function)) is function
    assert inspect.getsource(function) == inspect.getsource(function.template)
    assert str(inspect.signature(function)) == "(x: Array) -> Variable"
    assert typing.get_type_hints(function)["return"] is core.Variable


@pytest.mark.parametrize("name", NAMES)
def test_its_text_is_the_operations_and_complete(name):
    function = getattr(F, name)
    parts = [function.__doc__.index(part) for part in (*map("{}:\n".format, SECTIONS), ">>> ")]
    assert parts == sorted(parts)
    for line in filter(None, map(str.strip, function.template.__doc__.splitlines())):
        assert line in function.__doc__


@pytest.mark.parametrize("name", NAMES)
def test_it_is_called_as_any_function(name):
    function = getattr(F, name)
    values = function.template.domain.value(0)
    x = np.full(2, (values.lo + values.hi) / 2)
    np.testing.assert_array_equal(function(x=x).array, function.template().apply((x,))[0].array)
    with pytest.raises(TypeError, match=rf"^{name}\(\) missing 1 required positional argument: 'x"):
        function()


class OfWholeNumbers(Elementwise):
    domain = Domain("()->()", x=integers(0, 3))

    def compute(self, xp, x):
        return x + 1


class OfTwo(Elementwise):
    domain = Domain("(),()->()", x=real(-1, 1), y=real(-1, 1))

    def compute(self, xp, x, y):
        return x + y


@pytest.mark.parametrize("operation", [OfWholeNumbers, OfTwo])
def test_what_does_not_go_without_saying_is_refused(operation):
    with pytest.raises(TypeError, match="f: expected an elementwise operation of one floating"):
        function_of(operation, "f")
