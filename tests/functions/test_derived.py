"""Functions that an operation declares in full are as if they were written by hand."""

import inspect
import pickle
import sys
import typing

import numpy as np
import pytest

import core
import core.functions as F
from core import Domain, real
from plugins.functions.derived import SECTIONS, function_of

NAMES = [
    name
    for name in core.registry.catalogue("functions").names()
    if inspect.isclass(getattr(getattr(F, name), "template", None))
]


UNARY = [name for name in NAMES if "(x: Array) -> " in str(inspect.signature(getattr(F, name)))]
UNARY = [name for name in UNARY if getattr(F, name).template.domain.elementwise]


def test_they_are_many():
    assert len(NAMES) >= 90 and len(UNARY) >= 35


@pytest.mark.parametrize("name", NAMES)
def test_it_stands_where_it_says(name):
    function = getattr(F, name)
    assert function.__name__ == function.__qualname__ == function.__code__.co_name == name
    assert vars(sys.modules[function.__module__])[name] is function
    assert pickle.loads(pickle.dumps(function)) is function
    assert inspect.getsource(function) == inspect.getsource(function.template)
    declared, taken = function.template.declared, inspect.signature(function).parameters
    assert [*taken] == [*declared.names, *declared.fields]
    outputs = function.template.declared.outputs
    gives = tuple[(core.Variable,) * len(outputs)] if outputs else core.Variable
    assert typing.get_type_hints(function)["return"] == gives


@pytest.mark.parametrize("name", UNARY)
def test_its_text_is_the_operations_and_complete(name):
    function = getattr(F, name)
    parts = [function.__doc__.index(part) for part in (*map("{}:\n".format, SECTIONS), ">>> ")]
    assert parts == sorted(parts)
    if not function.template.__module__.startswith("core."):
        for line in filter(None, map(str.strip, function.template.__doc__.splitlines())):
            assert line in function.__doc__


@pytest.mark.parametrize("name", UNARY)
def test_it_is_called_as_any_function(name):
    function = getattr(F, name)
    values = function.template.domain.value(0)
    x = np.full(2, (values.lo + values.hi) / 2)
    np.testing.assert_array_equal(function(x=x).array, function.template().apply((x,))[0].array)
    with pytest.raises(TypeError, match=rf"^{name}\(\) missing 1 required positional argument: 'x"):
        function()


class Scaled(core.FunctionNode):
    """Scale x."""

    factor: float
    times: int = 1
    domain = Domain("(...)->(...)", x=real(-1, 1))

    def compute(self, xp, x):
        return x * self.factor**self.times


def test_settings_are_taken_and_refused_as_by_any_function():
    scaled = function_of(Scaled, "scaled", by_name=("times",), renamed={"count": "times"})
    x = np.ones(1, "f")
    assert str(inspect.signature(scaled)) == (
        "(x: 'Array', factor: float, *, times: int = 1) -> 'Variable'"
    )
    assert scaled(x, 3).array == 3 and scaled(x, 3, times=2).array == scaled(x, 3, count=2).array
    assert scaled.__doc__ == "Scale x." and scaled.__module__ == __name__
    with pytest.raises(TypeError, match="scaled: unexpected keyword argument 'facto'.*'factor'"):
        scaled(x, 1.0, facto=3)
    with pytest.raises(TypeError, match="positional"):
        scaled(x, 3, 2)
    with pytest.raises(core.errors.InvalidSetting, match="expected times to be a whole number"):
        scaled(x, 3, times="2")


class OfAnyNumber(core.FunctionNode):
    def compute(self, xp, *xs):
        return xs[0]


def test_an_operation_of_any_number_of_inputs_is_refused():
    with pytest.raises(TypeError, match="a fixed number of inputs, got OfAnyNumber"):
        function_of(OfAnyNumber, "f")
