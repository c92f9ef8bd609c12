"""SerialIterator: what it hands out, where it says it is, and that it resumes exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worker_datasets import Stopping

import core
from core.errors import CheckpointError, InvalidSetting
from core.iterators import (
    MultiprocessIterator,
    MultithreadIterator,
    SerialIterator,
    ShuffleOrderSampler,
)
from core.serializers import DictionarySerializer, NpzDeserializer, load_npz, save_npz

lengths = st.integers(1, 12)
batch_sizes = st.integers(1, 30)


def saved(iterator):
    serializer = DictionarySerializer()
    serializer.save(iterator)
    return {name: np.copy(value) for name, value in serializer.target.items()}


@given(lengths, batch_sizes, st.booleans(), st.integers(1, 12))
def test_every_pass_has_every_example_once(length, batch_size, shuffle, batches):
    iterator = SerialIterator(range(length), batch_size, shuffle=shuffle)
    handed = []
    for _ in range(batches):
        batch = iterator.next()
        assert len(batch) == batch_size
        before, handed = len(handed), handed + batch
        assert iterator.epoch == len(handed) // length
        assert iterator.current_position == len(handed) % length
        assert iterator.is_new_epoch == (len(handed) // length > before // length)
        assert iterator.epoch_detail == pytest.approx(len(handed) / length)
        assert iterator.previous_epoch_detail == pytest.approx(before / length)
    for start in range(0, len(handed) - length + 1, length):
        assert sorted(handed[start : start + length]) == list(range(length))


@given(lengths, batch_sizes, st.booleans())
def test_without_repeat_there_is_one_pass(length, batch_size, shuffle):
    iterator = SerialIterator(range(length), batch_size, repeat=False, shuffle=shuffle)
    batches = list(iterator)
    assert sorted(sum(batches, [])) == list(range(length))
    assert all(len(batch) == batch_size for batch in batches[:-1])
    assert iterator.epoch == 1 and iterator.is_new_epoch
    with pytest.warns(UserWarning, match=r"its pass is over.* Call reset\(\)"):
        assert list(iterator) == []
    iterator.reset()
    assert sorted(sum(iterator, [])) == list(range(length))


@given(lengths, batch_sizes, st.booleans(), st.integers(0, 6), st.integers(1, 6))
def test_a_loaded_iterator_goes_on_as_the_saved_one(length, batch_size, repeat, before, after):
    whole = SerialIterator(range(length), batch_size, repeat=repeat)
    for _ in range(before):
        next(whole, None)
    state, random = saved(whole), core.backend.random_state()
    rest = [next(whole, None) for _ in range(after)]

    other = SerialIterator(range(length), batch_size, repeat=repeat)
    NpzDeserializer(state).load(other)
    core.backend.set_random_state(random)
    assert [next(other, None) for _ in range(after)] == rest
    assert (other.epoch, other.epoch_detail) == (whole.epoch, whole.epoch_detail)
    assert other.previous_epoch_detail == whole.previous_epoch_detail


def test_numpys_seed_and_the_cores_fix_the_order():
    def order():
        return SerialIterator(range(50), 50).next()

    np.random.seed(1)
    first = order()
    np.random.seed(1)
    assert order() == first != list(range(50))
    try:
        core.seed(1)
        first = order()
        core.seed(1)
        assert order() == first
    finally:
        core.seed(None)


def test_a_random_state_of_ones_own():
    def order():
        sampler = ShuffleOrderSampler(np.random.RandomState(3))
        return SerialIterator(range(20), 20, order_sampler=sampler).next()

    assert order() == order()


def test_an_order_sampler_decides_each_pass():
    orders = iter([[2, 0], [1, 1], [0, 2]])
    iterator = SerialIterator("abc", 2, order_sampler=lambda order, position: next(orders))
    assert [iterator.next(), iterator.next()] == [["c", "a"], ["b", "b"]]


def test_an_order_sampler_is_told_where_the_batch_began():
    told = []

    def sampler(order, position):
        told.append((order.tolist(), position))
        return order[::-1]

    iterator = SerialIterator(range(5), 2, order_sampler=sampler)
    assert [iterator.next() for _ in range(6)] == [[4, 3], [2, 1], [0, 0], [1, 2], [3, 4], [4, 3]]
    # As Chainer 7.8.1 asks.
    assert told == [([0, 1, 2, 3, 4], 0), ([4, 3, 2, 1, 0], 4), ([0, 1, 2, 3, 4], 3)]


@pytest.mark.parametrize("kind", [SerialIterator, MultithreadIterator])
@pytest.mark.parametrize("shuffle", [True, False])
def test_a_pass_is_of_the_examples_that_there_are_when_it_begins(kind, shuffle):
    examples = list(range(4))
    iterator = kind(examples, 2, shuffle=shuffle)
    for count in (4, 800, 2, 6):
        examples[:] = range(count)
        found = [x for _ in range(count // 2) for x in iterator.next()]
        assert sorted(found) == examples and iterator.is_new_epoch
    iterator.finalize()


@given(st.lists(st.integers(0, 3), min_size=3, max_size=12), st.integers(1, 4), st.data())
def test_an_iterator_over_a_growing_dataset_goes_on_as_the_saved_one(grown, batch_size, data):
    stop = data.draw(st.integers(0, len(grown) - 1))

    def rest_of(iterator, examples, steps):
        for more in steps:
            examples.extend(range(len(examples), len(examples) + more))
            yield iterator.next()

    examples = list(range(3))
    whole = SerialIterator(examples, batch_size)
    list(rest_of(whole, examples, grown[:stop]))
    state, random, again = saved(whole), core.backend.random_state(), examples.copy()
    rest = list(rest_of(whole, examples, grown[stop:]))

    other = SerialIterator(again, batch_size)
    NpzDeserializer(state).load(other)
    core.backend.set_random_state(random)
    assert list(rest_of(other, again, grown[stop:])) == rest
    assert other.epoch_detail == whole.epoch_detail


@pytest.mark.parametrize("Iterator", [SerialIterator, MultithreadIterator])
def test_a_dataset_that_shrinks_in_the_middle_of_a_pass_is_told(Iterator):
    examples = list(range(10))
    iterator = Iterator(examples, 2)
    iterator.next()
    del examples[3:]
    with pytest.raises(IndexError, match=r"keep the 10 examples of a pass .* got 3 in the middle"):
        for _ in range(4):
            iterator.next()
    iterator.reset()
    assert sorted(iterator.next() + iterator.next()[:1]) == [0, 1, 2]
    iterator.finalize()


def test_an_iterator_over_a_dataset_that_shrinks_between_passes_goes_on_as_the_saved_one():
    examples = list(range(6))
    whole = SerialIterator(examples, 3)
    whole.next(), whole.next()
    del examples[4:]
    state, random = saved(whole), core.backend.random_state()
    rest = [whole.next() for _ in range(5)]
    other = SerialIterator(examples, 3)
    NpzDeserializer(state).load(other)
    core.backend.set_random_state(random)
    assert [other.next() for _ in range(5)] == rest


@pytest.mark.parametrize("kind", [SerialIterator, MultiprocessIterator])
def test_a_file_loads_into_an_iterator_that_has_more_to_save_by_now(kind, tmp_path):
    save_npz(tmp_path / "state", kind(range(6), 4))
    examples = list(range(3))
    used = kind(examples, 4)
    used.reset()
    examples.extend(range(3, 6))
    load_npz(tmp_path / "state", used)
    assert getattr(used, "resets", 0) == 0
    save_npz(tmp_path / "again", used)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "state").read_bytes()


def test_the_order_of_a_seed_is_that_of_chainer():
    np.random.seed(3)
    iterator = SerialIterator(range(7), 3)
    assert [iterator.next() for _ in range(2)] == [[4, 6, 5], [3, 1, 0]]


def test_a_dataset_that_raises_loses_no_batch_and_its_index_is_named():
    class Flaky(list):
        broken = True

        def __getitem__(self, index):
            if self.broken and index == 1:
                raise OSError("not now")
            return super().__getitem__(index)

    iterator = SerialIterator(Flaky("abc"), 2, shuffle=False)
    for _ in range(2):
        with pytest.raises(OSError, match="not now") as caught:
            iterator.next()
        assert caught.value.__notes__ == ["SerialIterator: raised by dataset[1]."]
    Flaky.broken = False
    assert iterator.next() == ["a", "b"] and iterator.epoch_detail == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 2), "empty dataset. Look at the folder"),
        (([1], 0), "batch size of 1 or more"),
        (([1], 1, True, True, lambda order, position: order), "got both"),
        (([1], 1, True, None, lambda order, position: []), "order_sampler"),
        (([1], 1, True, None, lambda order, position: [0.5]), "float64"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SerialIterator(*arguments)


@pytest.mark.parametrize("iterator", [SerialIterator, MultithreadIterator, MultiprocessIterator])
def test_what_is_no_dataset_or_no_size_is_refused(iterator):
    for dataset in (iter([1, 2]), {1, 2}, 5):
        with pytest.raises(TypeError, match=f"{iterator.__name__}: expected a dataset.*a list of"):
            iterator(dataset, 2)
    with pytest.raises(TypeError, match=r"got a dict of 'x'.*datasets.DictDataset"):
        iterator({"x": [1, 2], "t": [0, 1]}, 2)
    for size in (2.0, "2", None, True):
        with pytest.raises(TypeError, match="expected batch_size to be a whole number, got"):
            iterator([1, 2], size)
    for name in ("repeat", "shuffle"):
        with pytest.raises(
            InvalidSetting, match=f"{iterator.__name__}: expected {name} to be True"
        ):
            iterator([1, 2], 2, **{name: "no"})
    assert iterator([1, 2], np.int64(2)).batch_size == 2


@pytest.mark.parametrize("kind", [SerialIterator, MultithreadIterator, MultiprocessIterator])
def test_a_dataset_cannot_end_the_loop(kind):
    iterator = kind(Stopping(4, 2), 2, repeat=False, shuffle=False)
    with pytest.raises(RuntimeError, match=r"raised by dataset\[2\].* was a StopIteration"):
        list(iterator)
    assert iterator.current_position == 2
    iterator.finalize()


def test_a_state_whose_order_is_damaged_is_refused():
    iterator = SerialIterator(range(4), 2)
    state = saved(iterator)
    state["order"] = np.array([-1, 0, 1, 2])
    with pytest.raises(CheckpointError, match="4 examples"):
        NpzDeserializer(state).load(iterator)


def test_a_state_of_another_dataset_is_refused():
    longer = SerialIterator(range(9), 7)
    longer.next()
    for length in (4, 12):
        with pytest.raises(CheckpointError, match=f"7 of 9, .* dataset of {length} examples"):
            NpzDeserializer(saved(longer)).load(SerialIterator(range(length), 2))
    longer.dataset = range(12)  # it has grown since the pass began
    NpzDeserializer(saved(longer)).load(SerialIterator(range(12), 2))
    with pytest.raises(CheckpointError, match="7 of 9, .* dataset of 9 examples"):
        NpzDeserializer(saved(longer)).load(SerialIterator(range(9), 2))
    unordered = SerialIterator(range(9), 7, shuffle=False)
    unordered.next()
    with pytest.raises(CheckpointError, match="4 examples"):
        NpzDeserializer(saved(unordered)).load(SerialIterator(range(4), 2, shuffle=False))
