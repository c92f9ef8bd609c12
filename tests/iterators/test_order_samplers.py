"""A sampler with random numbers of its own: what it draws is saved and loaded with the iterator."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core import iterators
from core.errors import CheckpointError, InvalidSetting
from core.link.serializer import Deserializer
from core.serializers import load_hdf5, load_npz, save_hdf5, save_npz

SOURCES = {
    "RandomState": lambda seed: np.random.RandomState(seed),
    "PCG64": lambda seed: np.random.default_rng(seed),
    "MT19937": lambda seed: np.random.Generator(np.random.MT19937(seed)),
    "Philox": lambda seed: np.random.Generator(np.random.Philox(seed)),
}


LETTERS = list("abacabadab")
SAMPLERS = {
    "shuffled": iterators.ShuffleOrderSampler,
    "weighted": lambda source: iterators.WeightedOrderSampler(range(10), 7, random_state=source),
    "each once": lambda source: iterators.WeightedOrderSampler(range(10), 7, False, source),
    "stratified": lambda source: iterators.StratifiedOrderSampler(LETTERS, source),
}


def iterator(source, sampler="shuffled"):
    return iterators.SerialIterator(range(10), 4, order_sampler=SAMPLERS[sampler](source))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", SOURCES)
def test_the_orders_after_a_resume_are_those_of_the_one_never_stopped(name, sampler, tmp_path):
    whole = iterator(SOURCES[name](1), sampler)
    for _ in range(4):
        whole.next()
    save_npz(tmp_path / "state", whole)
    expected = [whole.next() for _ in range(9)]
    resumed = iterator(SOURCES[name](2), sampler)
    load_npz(tmp_path / "state", resumed)
    assert [resumed.next() for _ in range(9)] == expected
    core.seed(3)
    orders = [SAMPLERS[sampler](None)(np.arange(10), 0).tolist() for _ in range(2)]
    core.seed(3)
    assert orders[0] == SAMPLERS[sampler](None)(np.arange(10), 0).tolist() != orders[1]
    core.seed(None)


def test_the_state_of_another_kind_is_refused_and_nothing_changes(tmp_path):
    save_npz(tmp_path / "state", iterator(SOURCES["PCG64"](1)))
    for name in ("RandomState", "Philox"):
        source = SOURCES[name](1)
        target = iterator(source)
        before = target._position.order.tolist()
        with pytest.raises(CheckpointError, match="of the kind that was saved"):
            load_npz(tmp_path / "state", target)
        assert target._position.order.tolist() == before


def test_a_damaged_state_is_refused():
    sampler = iterators.ShuffleOrderSampler(SOURCES["RandomState"](1))

    class Damaged(Deserializer):
        def __getitem__(self, key):
            return self

        def __call__(self, key, value):
            state = json.loads(value)
            del state["state"]
            return json.dumps(state)

    with pytest.raises(CheckpointError, match="ShuffleOrderSampler: the saved state"):
        sampler.serialize(Damaged())


@pytest.mark.parametrize("given", [0, random.Random(0)])
def test_what_is_no_generator_is_refused(given):
    with pytest.raises(TypeError, match="random_state to be .* or Generator, got .*default_rng"):
        iterators.ShuffleOrderSampler(given)


@pytest.mark.parametrize("kind", [iterators.SerialIterator, iterators.MultithreadIterator])
@pytest.mark.parametrize("name", ["ShuffleOrderSampler", "WeightedOrderSampler"])
def test_a_class_is_no_sampler(kind, name):
    with pytest.raises(TypeError, match=rf"^{kind.__name__}: .* the class {name}. Make one of it"):
        kind(range(3), 2, order_sampler=getattr(iterators, name))


def test_samplers_of_ones_own_may_have_a_state(tmp_path):
    class Turning:
        turns = 0

        def __call__(self, order, position):
            self.turns += 1
            return np.roll(order, self.turns)

        def serialize(self, serializer):
            self.turns = int(serializer("turns", self.turns))

    whole = iterators.SerialIterator(range(5), 3, order_sampler=Turning())
    for _ in range(5):
        whole.next()
    save_npz(tmp_path / "state", whole)
    resumed = iterators.SerialIterator(range(5), 3, order_sampler=Turning())
    load_npz(tmp_path / "state", resumed)
    assert [resumed.next() for _ in range(6)] == [whole.next() for _ in range(6)]


class Growing:
    """Passes of two examples, of four, six ..., as in a curriculum."""

    passes = 0

    def __call__(self, order, position):
        self.passes += 1
        return np.arange(2 * self.passes)[::-1]

    def serialize(self, serializer):
        self.passes = int(serializer("passes", self.passes))


@pytest.mark.parametrize(("save", "load"), [(save_npz, load_npz), (save_hdf5, load_hdf5)])
@pytest.mark.parametrize("kind", [iterators.SerialIterator, iterators.MultithreadIterator])
@pytest.mark.parametrize("stop", range(9))
def test_passes_of_changing_lengths_are_resumed(save, load, kind, stop, tmp_path):
    """Only in the first pass they were: a sampler anew has an order of its first length."""
    whole = kind(range(20), 3, order_sampler=Growing())
    for _ in range(stop):
        whole.next()
    save(tmp_path / "state", whole)
    resumed = kind(range(20), 3, order_sampler=Growing())
    load(tmp_path / "state", resumed)
    assert resumed.epoch_detail == whole.epoch_detail
    assert [resumed.next() for _ in range(6)] == [whole.next() for _ in range(6)]
    for each in (whole, resumed):
        each.finalize()


def test_orders_that_count_from_the_end_are_resumed(tmp_path):
    def last_first():
        sampler = lambda order, position: np.array([-1, -2, -3])  # noqa: E731
        return iterators.SerialIterator(range(5), 2, order_sampler=sampler)

    whole, resumed = last_first(), last_first()
    assert whole.next() == [4, 3]
    save_npz(tmp_path / "state", whole)
    load_npz(tmp_path / "state", resumed)
    assert resumed.next() == whole.next() == [2, 4]


def test_a_load_that_fails_leaves_an_order_of_another_length(tmp_path):
    class Both:
        def __init__(self):
            self.data = iterators.SerialIterator(range(20), 3, order_sampler=Growing())
            self.fails = False

        def serialize(self, serializer):
            self.data.serialize(serializer["data"])
            if self.fails and isinstance(serializer, Deserializer):
                self.fails = False
                raise ValueError("not this one")

    saved, other = Both(), Both()
    for _ in range(5):
        saved.data.next()
    save_npz(tmp_path / "state", saved)
    other.fails = True
    with pytest.raises(ValueError, match="not this one"):
        load_npz(tmp_path / "state", other)
    assert other.data.order_sampler.passes == 1
    assert [other.data.next() for _ in range(2)] == [[1, 0, 3], [2, 1, 0]]


def test_an_order_that_is_not_in_the_dataset_is_refused(tmp_path):
    large = iterators.SerialIterator(range(20), 3, order_sampler=Growing())
    for _ in range(5):
        large.next()
    save_npz(tmp_path / "state", large)
    for size in (4, 7):
        small = iterators.SerialIterator(range(size), 3, order_sampler=Growing())
        with pytest.raises(CheckpointError, match=f"not in this dataset of {size} examples"):
            load_npz(tmp_path / "state", small)
    enough = iterators.SerialIterator(range(8), 3, order_sampler=Growing())
    load_npz(tmp_path / "state", enough)
    assert enough.next() == large.next()


# -- weights and classes --------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_examples_come_in_proportion_to_their_weights(scale):
    weights = np.array([0.0, 1.0, 2.0, 0.0, 5.0, 0.0]) * scale
    sampler = iterators.WeightedOrderSampler(weights, 80_000, random_state=np.random.default_rng(0))
    counts = np.bincount(sampler(np.arange(6), 0), minlength=6)
    assert counts.sum() == 80_000 and not counts[weights == 0].any()
    np.testing.assert_allclose(counts[[1, 2, 4]] / 10_000, [1, 2, 5], rtol=0.1)


def test_without_replacement_each_draw_is_in_proportion_to_what_is_left():
    sampler = iterators.WeightedOrderSampler(
        [1.0, 0.0, 2.0, 5.0], 2, False, np.random.default_rng(0)
    )
    drawn = np.array([sampler(np.arange(4), 0) for _ in range(2000)])
    found = [(drawn == pair).all(1).mean() for pair in ([0, 2], [0, 3], [2, 0], [3, 2])]
    expected = [1 / 8 * 2 / 7, 1 / 8 * 5 / 7, 2 / 8 * 1 / 6, 5 / 8 * 2 / 3]
    np.testing.assert_allclose(found, expected, atol=0.04)


@pytest.mark.parametrize("dtype", ["e", "f", "B", "?"])
def test_many_weights_of_a_small_dtype_are_all_drawn(dtype):
    weights, generator = np.ones(9000, dtype), np.random.default_rng(0)
    drawn = iterators.WeightedOrderSampler(weights, 200, random_state=generator)(weights, 0)
    assert drawn.min() < 1000 and drawn.max() > 8000
    assert len(iterators.WeightedOrderSampler(weights, 1)(weights, 0)) == 1


@given(st.integers(1, 30))
def test_the_one_example_of_a_class_comes_anywhere_in_the_pass(others):
    generator = np.random.default_rng(others)
    sampler = iterators.StratifiedOrderSampler([0] * others + [1], generator)
    places = [list(sampler(np.arange(others + 1), 0)).index(others) for _ in range(400)]
    assert abs(np.mean(places) - others / 2) < 4 * (others / 2 + 1) / 20


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
    st.integers(1, 50),
    st.integers(0, 2**32 - 1),
)
def test_batches_have_the_shares_of_the_classes(sizes, batch, seed):
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.repeat(np.arange(len(sizes)) - 2, sizes))
    order = iterators.StratifiedOrderSampler(labels, generator)(np.arange(len(labels)), 0)
    assert sorted(order) == list(range(len(labels)))
    shares = np.array(sizes) / len(labels)
    so_far = np.cumsum(np.eye(len(sizes), dtype=int)[labels[order] + 2], axis=0)
    so_far = np.concatenate([np.zeros((1, len(sizes)), int), so_far])
    counts = so_far[batch:] - so_far[:-batch]  # of each class in each window
    assert (abs(counts - shares * batch) <= 1 + shares * len(sizes) + 1e-9).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1.0, -1.0],), "finite and not negative"),
        (([1.0, np.nan],), "finite and not negative"),
        (([0, 0],), "a sum above 0"),
        (([],), "one axis of numbers, an entry for each example"),
        (([[1.0]],), "one axis"),
        ((2.0,), "one axis"),
        ((["1", "2"],), "one axis of numbers"),
        (([1j, 1.0],), "one axis of numbers"),
        (([1, 2], 0), "a size of 1 or more, got 0"),
        (([1, 0], 2, False), "a size from 1 to 1, .*replacement=True"),
    ],
)
def test_weights_without_meaning_are_refused(arguments, words):
    with pytest.raises(InvalidSetting, match=f"WeightedOrderSampler: expected .*{words}"):
        iterators.WeightedOrderSampler(*arguments)


@pytest.mark.parametrize("name", ["Weighted", "Stratified"])
def test_a_dataset_of_another_length_is_refused(name):
    sampler = getattr(iterators, f"{name}OrderSampler")([1, 2, 1])
    with pytest.raises(ValueError, match="for each of the 5 examples of the dataset, got 3"):
        iterators.SerialIterator(range(5), 2, order_sampler=sampler)


def test_weights_and_classes_may_be_arrays_of_any_library():
    weights = np.array([0.0, 1.0, 0.0], "f")
    for each in (core.Variable(weights), weights.tolist(), memoryview(weights)):
        assert iterators.WeightedOrderSampler(each)(np.arange(3), 0).tolist() == [1, 1, 1]
        assert sorted(iterators.StratifiedOrderSampler(each)(np.arange(3), 0)) == [0, 1, 2]
