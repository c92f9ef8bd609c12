"""What a model holds without owning it is told by the setup of an optimizer, with path and cure."""

import warnings
from collections import deque

import numpy as np
import pytest

import core
import core.links as L
from core import optimizers
from core.link.unregistered import unregistered

FLAT = {
    "link": (lambda: L.Linear(2, 2), [""], "set it inside"),
    "without sizes": (lambda: L.Linear(2), [""], "set it inside"),
    "parameter": (lambda: core.Parameter(0, (2,)), [""], "set it inside"),
    "list": (lambda: [L.Linear(2, 2), 3, L.Linear(2)], ["[0]", "[2]"], r"core\.ChainList\("),
    "tuple": (lambda: (L.Linear(2, 2),), ["[0]"], r"core\.ChainList\("),
    "deque": (lambda: deque([L.Linear(2, 2)]), ["[0]"], r"core\.ChainList\("),
    "dict": (lambda: {"a": L.Linear(2, 2)}, ["['a']"], r"core\.ChainDict\(self\.held\)"),
    "nested": (lambda: {"a": [(L.Linear(2, 2),)]}, ["['a'][0][0]"], "also what is in it"),
    "parameters": (lambda: [core.Parameter(0, (2,))], ["[0]"], "each as an attribute"),
    "chain": (lambda: core.Chain(a=L.Linear(2, 2)), [""], "set it inside"),
}


def holding(value, owner=core.Chain):
    """A chain whose child `inner` holds `value` in a plain attribute."""
    inner = owner()
    inner.held = value
    return core.Chain(inner=inner, other=L.Linear(2, 2))


@pytest.mark.parametrize("name", FLAT)
def test_what_is_held_is_told_with_path_and_cure(name):
    make, paths, cure = FLAT[name]
    model = holding(make())
    (found,) = unregistered(model)
    assert [path for path, _ in found.values] == [f"/inner/held{path}" for path in paths]
    with pytest.warns(UserWarning, match=cure) as told:
        optimizers.SGD().setup(model)
    assert all(f"/inner/held{path}" in str(told[0].message) for path in paths)
    assert told[0].filename == __file__


def test_what_the_class_holds_is_told():
    class Tower(core.Chain):
        floors = (L.Linear(2, 2),)
        roof = L.Linear(2, 2)

    found = [path for held in unregistered(core.Chain(tower=Tower())) for path, _ in held.values]
    assert found == ["/tower/floors[0]", "/tower/roof"]
    with pytest.warns(UserWarning, match=r"/roof \(Linear\): set it inside"):
        optimizers.SGD().setup(Tower())


@pytest.mark.parametrize("owner", [core.Link, core.ChainList, core.ChainDict, core.Sequential])
def test_an_owner_that_takes_no_links_by_name_is_told_what_does(owner):
    owner = owner()
    owner.held = L.Linear(2, 2)
    with pytest.warns(UserWarning, match=f"of a core.Chain, which {type(owner).__name__} is not"):
        optimizers.Adam().setup(owner)


def test_a_target_without_parameters_is_told():
    with pytest.warns(UserWarning, match="the Chain has no parameters, so that nothing"):
        optimizers.SGD().setup(core.Chain(act=core.Sequential(core.functions.relu)))


def test_a_variable_in_the_place_of_a_parameter_is_told():
    link = core.Chain(l=L.Linear(2, 2))
    link.state = core.Variable(np.ones(2, "f"))
    with link.init_scope():
        link.constant = core.Variable(np.ones(2, "f"), requires_grad=False)
        with pytest.warns(UserWarning, match=r"Chain\.w: a Variable is no parameter") as told:
            link.w = core.Variable(np.ones(2, "f"))
    assert told[0].filename == __file__


def taken_care_of():
    frozen = L.Linear(2, 2)
    frozen.disable_update()
    yield holding(frozen)
    yield holding([core.Parameter(0, (2,), requires_grad=False)])
    rival = L.Linear(2, 2)
    optimizers.SGD().setup(rival)
    yield holding({"rival": rival})
    model = core.Chain(l=L.Linear(2))  # without sizes: what is not known yet is a parameter too
    model.again, model.weights, model.me = [model.l], model.l.W, (model,)
    yield model
    yield holding([L.Dropout() if hasattr(L, "Dropout") else core.Sequential(abs)])
    yield holding([np.zeros(3), "text", {1: {2, 3}}, None])
    loop = []
    loop.append(loop)
    yield holding(loop)


@pytest.mark.parametrize("model", list(taken_care_of()))
def test_what_is_taken_care_of_is_not_told(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizers.SGD().setup(model)


def test_every_bundled_container_keeps_account_of_its_children():
    children = [L.Linear(2, 2), L.Linear(2)]
    for model in (
        core.ChainList(*children),
        core.Sequential(*children),
        core.ChainDict(a=children[0], b=children[1]),
        core.Chain(a=children[0], b=children[1]),
    ):
        assert not list(unregistered(model))


def test_the_cures_train():
    model = holding([L.Linear(2, 2)])
    cured = core.Chain()
    with cured.init_scope():
        cured.held = core.ChainList(*model.inner.held)
    optimizer = optimizers.SGD(1.0).setup(cured)
    before = cured.held[0].b.array.copy()
    optimizer.update(lambda: core.functions.sum(cured.held[0](np.ones((1, 2), "f"))))
    np.testing.assert_array_equal(cured.held[0].b.array, before - 1)


def test_what_comes_after_setup_is_told_once():
    model = core.Chain(body=L.Linear(2, 2))
    optimizer = optimizers.SGD(1.0).setup(model)
    model.add_link("head", core.ChainDict(a=L.Linear(2, 2), b=L.Linear(2, 2)))
    model.head["b"].disable_update()

    def loss():
        h = model.body(np.ones((1, 2), "f"))
        return core.functions.sum(model.head["a"](h) + model.head["b"](h))

    before = model.body.W.array.copy()
    with pytest.warns(UserWarning, match="/head/a/W, /head/a/b cannot be trained") as told:
        optimizer.update(loss)
    assert told[0].filename == __file__ and "/head/b" not in str(told[0].message)
    assert (model.body.W.array != before).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.update(loss)
    model.body = L.Linear(2, 2)
    with pytest.warns(UserWarning, match="/body/W, /body/b, .* hooks and groups"):
        optimizer.update(loss)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.update(loss)
        optimizer.setup(model)
        before = model.head["a"].W.array.copy()
        optimizer.update(loss)
    assert (model.head["a"].W.array != before).any()


def test_a_parent_that_is_held_is_none_of_ours():
    child = L.Linear(2, 2)
    child.parents = [core.Chain(child=child, other=L.Linear(2, 2))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizers.SGD().setup(child)


def test_a_parameter_set_outside_the_scope_after_setup_is_told_of_where_it_is_set():
    link = L.Linear(2, 2)
    link.early = core.Parameter(0, (2,))  # which setup tells of
    with pytest.warns(UserWarning, match="/early"):
        optimizers.SGD().setup(link)
    with pytest.warns(UserWarning, match=r"Linear\.late: .*init_scope") as told:
        link.late = core.Parameter(0, (2,))
    assert told[0].filename == __file__
    link.tied = link.W
    with link.init_scope():
        link.scale = core.Parameter(1, (2,))
    with pytest.warns(UserWarning, match=r"Chain\.late: .*init_scope"):
        core.Chain(trained=link).late = core.Parameter(0, (2,))
