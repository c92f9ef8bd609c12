"""Copies of links whose sizes are not known yet: shared copies get one array, others their own."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core.testing.memory import load, saved

X = np.linspace(-1, 1, 12).reshape(4, 3).astype("f")


def chain():
    return core.Chain(body=core.Sequential(L.Linear(3)))


TREES = {
    "a link": lambda: L.Linear(2),
    "a chain": lambda: core.Chain(l=L.Linear(2)),
    "a list": lambda: core.ChainList(L.Linear(2), L.Linear(2)),
    "a dict": lambda: core.ChainDict(a=L.Linear(2), b=L.Linear(2)),
    "a sequence": lambda: core.Sequential(L.Linear(2), F.relu, L.Linear(2)),
    "a deep one": lambda: core.Chain(a=core.ChainList(core.ChainDict(b=L.Linear(2)))),
    "normalization": lambda: L.GroupNormalization(1),
    "convolution": lambda: L.Convolution2D(None, 2, 3),
}


def weights(link):
    return [parameter for _, parameter in link.namedparams()]


def size(link):
    """Give all parameters an array, in whatever order."""
    for parameter in weights(link):
        parameter.initialize((3, 3))


@pytest.mark.parametrize("name", TREES)
@given(data=st.data())
def test_shared_copies_share_whoever_is_sized_first(name, data):
    links = [TREES[name]()]
    for _ in range(data.draw(st.integers(1, 3))):
        links.append(data.draw(st.sampled_from(links)).copy("share"))
    size(data.draw(st.sampled_from(links)))
    for parameters in zip(*map(weights, links), strict=True):
        assert all(each.array is parameters[0].array for each in parameters)
        assert len(set(map(id, parameters))) == len(links)
    later = links[0].copy()
    assert all(a.array is b.array for a, b in zip(weights(later), weights(links[0]), strict=True))


def test_gradients_are_their_own():
    link = L.Linear(2)
    duplicate = link.copy()
    duplicate.zerograds()
    F.sum(link(X)).backward()
    assert link.W.grad.any() and not duplicate.W.grad.any()
    np.testing.assert_array_equal(duplicate(X).array, link(X).array)


@pytest.mark.parametrize("mode", ["copy", "init"])
@pytest.mark.parametrize("name", TREES)
def test_other_copies_are_independent(name, mode):
    link = TREES[name]()
    shared, duplicate = link.copy(), link.copy(mode)
    size(link)
    assert not any(each.is_initialized for each in weights(duplicate) if each.name != "b")
    size(duplicate)
    for mine, other in zip(weights(link), weights(duplicate), strict=True):
        assert not np.shares_memory(mine.array, other.array)
    assert all(a.array is b.array for a, b in zip(weights(link), weights(shared), strict=True))


@pytest.mark.parametrize("mode", ["share", "copy", "init"])
@pytest.mark.parametrize(
    "make", [lambda: L.Linear(3), lambda: core.Sequential(L.Linear(3), F.relu)]
)
def test_repetitions(make, mode):
    rounds = make().repeat(3, mode=mode)
    rounds(X)
    arrays = [link.W.array for link in rounds.links() if isinstance(link, L.Linear)]
    assert len(arrays) == 3
    assert all((array is arrays[0]) == (mode == "share") for array in arrays[1:])


@pytest.mark.parametrize("generator", [np.random.RandomState, np.random.default_rng])
@pytest.mark.parametrize("size", [None, 3])
def test_repetitions_draw_one_after_the_other_of_a_generator_of_the_initializers(generator, size):
    layer = L.Linear(size, 3, initialW=core.initializers.Normal(rng=generator(0)))
    rounds = core.Sequential(layer, F.relu).repeat(3)
    rounds(X), layer(X)
    drawn = {link.W.array.tobytes() for link in (layer, *rounds.children())}
    assert len(drawn) == 4


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deep", "pickle"]
)
@pytest.mark.parametrize("sized", [False, True])
def test_deep_copies_share_among_themselves_alone(duplicate, sized):
    link = L.Linear(2)
    pair = core.ChainList(link, link.copy())
    if sized:
        link(X)
    duplicates = duplicate(pair)
    pair[0](X)
    assert duplicates[0].W.is_initialized == sized
    duplicates[1](X)
    assert duplicates[0].W.array is duplicates[1].W.array
    assert not np.shares_memory(duplicates[0].W.array, link.W.array)


def test_loading_sizes_the_copies_too():
    source, link = L.Linear(2), L.Linear(2)
    duplicate = link.copy()
    source(X)
    load(link, saved(source))
    assert duplicate.W.array is link.W.array


def test_a_copy_that_was_moved_gets_the_elements_where_it_is():
    link = L.Linear(2)
    duplicate = link.copy().to_device("strict")
    link(X)
    assert duplicate.W.backend.name == "strict"
    np.testing.assert_array_equal(core.backend.to_host(duplicate.W.array), link.W.array)


def test_a_copy_that_has_got_another_array_keeps_it():
    link = L.Linear(2)
    duplicate = link.copy()
    own = duplicate.W.array = np.ones((2, 3), "f")
    link(X)
    assert duplicate.W.array is own and link.W.array is not own
