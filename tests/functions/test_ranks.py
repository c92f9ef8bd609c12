"""Functions of each number of spatial axes are as if they were written by hand."""

import ast
import doctest
import inspect
import pickle
import sys

import numpy as np
import pytest

import core.functions as F
from core import Variable
from core.errors import InvalidSetting, InvalidType
from plugins.functions.ranks import EXAMPLE
from plugrad.commands.stubs import bundled

FAMILIES = ("convolution", "deconvolution", "average_pooling", "max_pooling", "unpooling")
RANKS = {"1d": 1, "2d": 2, "3d": 3, "nd": None}
NAMES = [f"{family}_{rank}" for family in FAMILIES for rank in RANKS]


def call(name, x, more=None, **settings):
    """What the function makes of x, with filters of that size, or with windows of 2."""
    if name.startswith(("conv", "deconv")):
        return getattr(F, name)(x, np.ones((2, 2, *x.shape[2:]), "f"), **settings)
    return getattr(F, name)(x, 2, **settings)


def images(ndim):
    return np.ones((1, 2, *[3] * ndim), "f")


@pytest.mark.parametrize("name", NAMES)
def test_it_stands_where_it_says(name):
    function = getattr(F, name)
    assert function.__name__ == function.__qualname__ == name
    assert vars(sys.modules[function.__module__])[name] is function
    assert pickle.loads(pickle.dumps(function)) is function
    assert f"def {name[:-3]}(" in inspect.getsource(function)
    assert "rank" not in inspect.signature(function).parameters
    assert set(function.__annotations__) == {*inspect.signature(function).parameters, "return"}


@pytest.mark.parametrize("name", NAMES)
def test_its_text_is_that_of_its_rank(name):
    function, ndim = getattr(F, name), RANKS[name[-2:]]
    assert "$" not in function.__doc__
    assert max(map(len, function.__doc__.splitlines())) <= 100
    (examples,) = doctest.DocTestFinder().find(function, name)
    assert f"F.{name}(" in "".join(each.source for each in examples.examples)
    *_, last = examples.examples
    assert len(eval(last.want)) == 2 + (ndim or EXAMPLE)


@pytest.mark.parametrize("name", NAMES)
def test_errors_name_it(name):
    function, ndim = getattr(F, name), RANKS[name[-2:]]
    with pytest.raises(TypeError, match=rf"^{name}\(\) missing 1 required positional argument"):
        function(images(ndim or 2))
    with pytest.raises(TypeError, match=f"^{name}: unexpected keyword argument 'rank'"):
        call(name, images(ndim or 2), rank=2)
    with pytest.raises(InvalidSetting, match=f"^{name}: expected pad"):
        call(name, images(ndim or 2), pad="1")
    if ndim is not None:
        with pytest.raises(InvalidType, match=rf"(?s)in: {name} .*Inputs: x \(1, "):
            call(name, images(ndim + 1))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_all_ranks_agree_with_any_rank(family, ndim):
    x = Variable(np.random.RandomState(0).randn(1, 2, *[3] * ndim).astype("f"))
    alone, among = (call(f"{family}_{rank}", x) for rank in (f"{ndim}d", "nd"))
    np.testing.assert_array_equal(alone.array, among.array)
    assert alone.creator.label == among.creator.label


@pytest.mark.parametrize("name", ["convolution_2d", "deconvolution_2d"])
def test_images_take_later_settings_by_name_alone(name):
    x = images(2)
    assert call(name, x, dilate=1, groups=1).shape
    with pytest.raises(TypeError, match=rf"^{name}\(\) takes from 2 to 6 positional arguments"):
        getattr(F, name)(x, x, None, 1, 0, False if name[0] == "c" else None, 1)


def test_an_argument_that_a_rank_does_not_have_is_neither_taken_nor_told():
    with pytest.raises(TypeError, match="^average_pooling_2d: unexpected keyword .*'pad_value'"):
        F.average_pooling_2d(images(2), 2, pad_value=None)
    assert "pad_value" not in F.average_pooling_2d.__doc__
    assert "pad_value" in F.average_pooling_1d.__doc__


@pytest.mark.parametrize("name", ["convolution_2d", "deconvolution_2d"])
def test_filters_of_another_rank_are_refused(name):
    with pytest.raises(InvalidType, match=r"Expect: W.ndim == 4\nActual: 3 != 4"):
        getattr(F, name)(images(2), images(1))


def test_the_stubs_say_how_each_is_called():
    text = bundled()["core/functions/__init__.pyi"]
    said = {name: [] for name in NAMES}
    for node in ast.parse(text).body:
        if getattr(node, "name", None) in said:
            said[node.name] += [node]
    for name, nodes in said.items():
        function = getattr(F, name)
        # A flag of theirs makes pairs of the results.
        assert len(nodes) == (3 if name.startswith("max_pooling") else 1)
        assert ast.get_docstring(nodes[0]) == inspect.getdoc(function)
        if len(nodes) == 1:
            taken = f"({ast.unparse(nodes[0].args)}) -> {ast.unparse(nodes[0].returns)}"
            assert taken.replace("=", " = ") == str(inspect.signature(function))
