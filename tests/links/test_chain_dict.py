"""ChainDict: children under keys, and all that dicts and links can do."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.links as L
from core.errors import RegistrationError
from core.testing import check_link
from core.testing.memory import load, saved


class Heads(core.ChainDict):
    """The sum of what all children make of x."""

    def forward(self, x):
        return sum(head(x) for head in self.values())


def heads():
    return Heads({"left": L.Linear(3, 2), "right side": core.Sequential(L.Linear(3, 2))})


def test_it_is_a_link_in_every_respect():
    def reference(params, x):
        left, right = "/left/", "/right side/0/"
        return sum(x @ params[p + "W"].T + params[p + "b"] for p in (left, right))

    x = np.linspace(-1, 1, 12).reshape(4, 3)
    check_link(heads, (x,), reference)
    check_link(lambda: Heads(left=L.Linear(2)), (x,), double=False)


# Each step is tried on a dict of links as well: results, errors and order are the same.
KEYS = st.sampled_from(["a", "b", "c.d", "0"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("__setitem__"), KEYS, st.builds(core.Link, x=st.just((1,)))),
        st.tuples(st.just("setdefault"), KEYS, st.builds(core.Link, x=st.just((1,)))),
        st.tuples(st.sampled_from(["__getitem__", "__delitem__", "pop", "get"]), KEYS),
        st.tuples(st.sampled_from(["popitem", "clear", "__len__"])),
    )
)


@given(STEPS)
def test_it_is_a_dict(steps):
    made, expected = core.ChainDict(), {}
    for name, *arguments in steps:
        if name == "popitem" and expected:  # a mapping says not which; take the one that it took
            key, link = made.popitem()
            assert expected.pop(key) is link
            continue
        results = []
        for each in (made, expected):
            try:
                results.append(getattr(each, name)(*arguments))
            except KeyError:
                results.append(KeyError)
        assert results[0] is results[1] or results[0] == results[1]
    assert list(made.items()) == list(expected.items())
    assert [path for path, _ in made.namedparams()] == [f"/{key}/x" for key in expected]
    assert [link.name for link in made.values()] == list(expected)
    assert all(key in made for key in expected)


def test_it_is_made_of_mappings_pairs_and_keywords():
    a, b = core.Link(x=(1,)), core.Link(x=(1,))
    for made in (core.ChainDict({"a": a}, b=b), core.ChainDict([("a", a)], b=b)):
        assert dict(made) == {"a": a, "b": b}
    assert made == made and made != core.ChainDict(made.copy().items())
    assert hash(made) == hash(made)


def test_children_are_saved_copied_and_shown():
    made = heads()
    other = heads()
    load(other, saved(made))
    for duplicate in (other, copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made.copy()):
        assert list(duplicate) == list(made)
        assert [link.name for link in duplicate.values()] == list(made)
        for path, parameter in made.namedparams():
            np.testing.assert_array_equal(
                dict(duplicate.namedparams())[path].array, parameter.array
            )
    shared = made.copy("share")
    assert shared["left"] is not made["left"]
    assert shared["left"].W.array is made["left"].W.array
    assert "left: Linear" in repr(made) and "right side: Sequential" in repr(made)
    rounds = made.repeat(2)
    assert [path for path, _ in rounds.namedlinks(True)][:2] == ["/0", "/0/left"]


def test_what_cannot_be_a_child_is_refused_and_changes_nothing():
    made = heads()
    before = list(made.items())
    with pytest.raises(TypeError, match="expected a link"):
        made["left"] = abs
    with pytest.raises(TypeError, match="expected a string as key, got 3"):
        made[3] = L.Linear(1, 1)
    for key in ("", "a/b"):
        with pytest.raises(RegistrationError, match="a key without slashes"):
            made[key] = L.Linear(1, 1)
    with pytest.raises(RegistrationError, match="its child 'left' already"):
        made["third"] = made["left"]
    with pytest.raises(RegistrationError, match="a part of itself"):
        made["self"] = core.ChainDict(inner=made)
    with pytest.raises(RegistrationError, match="a child under 'left' already"):
        made.add_link("left", L.Linear(1, 1))
    with pytest.raises(KeyError, match="Did you mean 'left'"):
        made["lft"]
    with made.init_scope():
        made.scale = core.Parameter(1, (2,))
        with pytest.raises(RegistrationError, match="children of a ChainDict have keys"):
            made.more = L.Linear(1, 1)
        with pytest.raises(RegistrationError, match="a link is registered"):
            made.left = core.Parameter(1, (2,))
    with pytest.raises(RegistrationError, match="a parameter is registered as 'scale'"):
        made["scale"] = L.Linear(1, 1)
    assert list(made.items()) == before
