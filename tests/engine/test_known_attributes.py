"""Variables and parameters take no attribute that nobody knows; a subclass may have its own."""

import copy
import pickle

import numpy as np
import pytest

import core
import core.functions as F


def variables():
    x = core.Variable(np.ones(2, "f"))
    fixed = core.Variable(np.ones(2, "f"), requires_grad=False)
    several = F.split_axis(core.Variable(np.ones(4, "f")), 2, 0)
    unsized = core.Parameter()
    return [
        x,
        fixed,
        F.relu(x),
        F.relu(fixed),
        x + x,
        F.argmax(x),
        *several,
        x.T,
        unsized,
        core.Parameter(0, (2,)),
        copy.copy(x),
        pickle.loads(pickle.dumps(x)),
        x[0],
    ]


@pytest.mark.parametrize("name", ["foo", "gard", "learning_rate", "_mine", "update_rul"])
def test_an_attribute_that_nobody_knows_is_refused(name):
    for x in variables():
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            setattr(x, name, 1)
        assert not hasattr(x, name) and not hasattr(x, "__dict__")


def test_what_existing_programs_set_is_set():
    for x in variables():
        x.name = "x"
        assert x.name == "x"
        if x.array is not None:
            x.grad = np.ones_like(x.array)
            x.grad_var = core.Variable(np.zeros_like(x.array))
            x.array = x.data = np.ones_like(x.array)
            assert not x.grad.any()
        x.loss_scale = 2.0
        assert x.loss_scale == 2
    parameter = core.Parameter(0, (2,))
    for name in ("frozen", "initializer", "update_rule", "version"):
        setattr(parameter, name, True)
        assert getattr(parameter, name) is True
    with pytest.raises(AttributeError, match=r"Set frozen, p\.frozen = True"):
        parameter.requires_grad = False


class Tagged(core.Variable):
    """A user's own, with a dict."""

    kind = "plain"

    def __init__(self, data, tag):
        super().__init__(data)
        self.tag = tag


class Slotted(core.Variable):
    """With a slot, which may be empty."""

    __slots__ = ("note",)


class Scaled(core.Parameter):
    def __init__(self, scale):
        super().__init__(scale, (2,))
        self.scale = scale


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_subclass_may_have_attributes_which_copies_have_too(duplicate):
    x = Tagged(np.ones(2, "f"), ["a"])
    x.kind, x.more = "special", 3
    x.loss_scale = 4.0
    made = duplicate(x)
    assert (made.tag, made.kind, made.more, made.loss_scale) == (["a"], "special", 3, 4.0)
    assert (made.tag is x.tag) == (duplicate is copy.copy)
    slotted = Slotted(np.ones(2, "f"))
    assert not hasattr(duplicate(slotted), "note")
    slotted.note = "b"
    assert duplicate(slotted).note == "b"
    scaled = Scaled(2)
    scaled.version = 7
    made = duplicate(scaled)
    assert (made.scale, made.version, made.array.tolist()) == (2, 7, [2, 2])
    assert made.initializer.fill_value == 2 and made.update_rule is None


def test_pickles_that_older_versions_wrote_load():
    made = core.Parameter.__new__(core.Parameter)
    state = core.Parameter(1, (2,)).__getstate__()
    made.__setstate__(state | {"rest": {"version": 3, "_frozen": False}})
    assert made.version == 3 and made.update_rule is None and made.initializer is None
