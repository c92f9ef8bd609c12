"""A name in a class that is nearly one which its base looks for is told when the class is made."""

import warnings

import pytest

import core
from core import dataset, training
from core.errors.slips import SlipWarning


def made(base, **members):
    """A class of a user's, and what was said of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cls = type("Mine", (base,), {"__module__": "mine", **members})
    return cls, [str(warning.message) for warning in said]


def method(self, *args):
    return None


SLIPS = [
    (core.Link, "foward", "forward"),
    (core.Chain, "serialise", "serialize"),
    (core.ChainList, "_Mine__call_", "__call__"),
    (core.FunctionNode, "foward_cpu", "forward_cpu"),
    (core.FunctionNode, "check_type_foward", "check_type_forward"),
    (core.Elementwise, "gradeint", "gradient"),
    (core.Function, "bakward", "backward"),
    (training.Extension, "on_eror", "on_error"),
    (training.Extension, "initialise", "initialize"),
    (training.StandardUpdater, "update_croe", "update_core"),
    (dataset.DatasetMixin, "get_exmaple", "get_example"),
    (dataset.Iterator, "finalise", "finalize"),
    (core.Initializer, "__cal__", "__call__"),
    (core.GradientMethod, "creat_update_rule", "create_update_rule"),
]


@pytest.mark.parametrize("base, name, meant", SLIPS)
def test_a_method_that_nothing_looks_for_is_told(base, name, meant):
    others = {"compute": lambda self, xp, x: x} if base is core.Elementwise else {}
    _, (said,) = made(base, **others, **{name: method})
    assert f"nothing looks for this name. Did you mean {meant!r}?" in said


def test_what_the_class_itself_uses_is_its_own():
    class Steps(core.Link):
        def forward(self, x):
            return self.forword(x)

        def forword(self, x):
            return x

    def helper(self):
        return self.serialise()

    assert not made(core.Link, helper=helper, serialise=method)[1]
    assert not made(core.Link, forward=method, foward=method)[1]


def test_what_a_class_is_made_of_beside_methods_counts_at_the_end_too():
    _, (said,) = made(core.FunctionNode, forward=method, output_name=("a", "b"))
    assert "Mine.output_name: nothing looks for this name. Did you mean 'output_names'?" in said


@pytest.mark.parametrize("name", ["forward2", "forwards", "link", "param", "_foward", "forth"])
def test_other_words_are_nobody_s_slips(name):
    cls, said = made(core.Link, **{name: method})
    assert not said
    assert not made(cls, **{name: method})[1]


def test_names_that_are_alike_within_a_program_are_its_own():
    base, _ = made(core.Link, loss_of_a=method, block1=method)
    assert not made(base, loss_of_b=method, block2=method)[1]
    assert made(base, foward=method)[1]


def test_the_line_of_the_class_is_named():
    with pytest.warns(SlipWarning) as said:

        class Slow(core.Link):
            def froward(self, x):
                return x

    assert said[0].filename == __file__
