"""MultithreadIterator: SerialIterator's batches, made by threads that come to an end."""

import copy
import gc
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from iteration import batches, saved

import core
from core.iterators import MultithreadIterator, SerialIterator
from core.serializers import NpzDeserializer


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    gc.collect()
    end = time.monotonic() + 60
    while (left := threads()) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left


def threads():
    return [t for t in threading.enumerate() if t.name.startswith("MultithreadIterator")]


settings = st.fixed_dictionaries(
    {
        "batch_size": st.integers(1, 30),
        "repeat": st.booleans(),
        "shuffle": st.booleans(),
    }
)


@example(9, {"batch_size": 2, "repeat": True, "shuffle": True}, 1, 1, 3)  # other orders from there
@given(st.integers(1, 12), settings, st.integers(1, 3), st.integers(0, 6), st.integers(1, 6))
def test_it_is_the_serial_iterator_wherever_it_stops(length, given, n_threads, before, after):
    core.seed(1)
    try:
        expected = batches(SerialIterator(range(length), **given), before + after)
        core.seed(1)
        with MultithreadIterator(range(length), n_threads=n_threads, **given) as iterator:
            found = batches(iterator, before)
            state, random = saved(iterator), core.backend.random_state()
            batches(iterator, 2)
            assert found == expected[:before]
        core.seed(2)
        with MultithreadIterator(range(length), n_threads=n_threads, **given) as other:
            next(other)
            NpzDeserializer(state).load(other)
            core.backend.set_random_state(random)
            assert batches(other, after) == expected[before:]
    finally:
        core.seed(None)


@given(st.integers(1, 12), st.booleans(), st.lists(st.integers(1, 30), min_size=2, max_size=6))
def test_a_batch_size_that_is_set_anew_counts_from_the_next_batch(length, shuffle, sizes):
    def handed(make):
        core.seed(1)
        iterator, found = make(range(length), sizes[0], shuffle=shuffle), []
        for size in sizes:
            iterator.batch_size = size
            found += batches(iterator, 2)
        iterator.finalize()
        return found

    try:
        assert handed(MultithreadIterator) == handed(SerialIterator)
    finally:
        core.seed(None)


def test_a_sampler_that_is_set_anew_orders_the_next_pass():
    with MultithreadIterator("abc", 2, shuffle=False) as iterator:
        assert iterator.next() == ["a", "b"]
        iterator.order_sampler = lambda order, position: np.array([1, 2, 0])
        assert [iterator.next(), iterator.next()] == [["c", "b"], ["c", "a"]]


def test_saving_keeps_what_is_on_its_way():
    dataset = Counting("abcdef")
    with MultithreadIterator(dataset, 2, shuffle=False) as iterator:
        iterator.next()
        wait_until(lambda: dataset.asked == [0, 1, 2, 3])
        saved(iterator)
        iterator.next()
    assert dataset.asked.count(2) == 1


class Counting(list):
    def __init__(self, values):
        super().__init__(values)
        self.asked = []

    def __getitem__(self, index):
        self.asked.append(index)
        return super().__getitem__(index)


def test_the_next_batch_is_loaded_meanwhile():
    dataset = Counting(range(20))
    with MultithreadIterator(dataset, 5, shuffle=False) as iterator:
        assert iterator.next() == [0, 1, 2, 3, 4]
        wait_until(lambda: dataset.asked == list(range(10)))
        assert iterator.current_position == 5


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


def test_several_threads_load_at_once():
    class Meeting(list):
        together = threading.Barrier(3, timeout=60)

        def __getitem__(self, index):
            self.together.wait()
            return super().__getitem__(index)

    with MultithreadIterator(Meeting(range(6)), 3, shuffle=False, n_threads=3) as iterator:
        assert iterator.next() == [0, 1, 2]


class Flaky(list):
    broken = True

    def __getitem__(self, index):
        if self.broken and index == 3:
            raise OSError("not now")
        return super().__getitem__(index)


def test_an_error_names_the_index_when_its_batch_is_asked_for_and_loses_no_batch():
    dataset = Flaky("abcdef")
    with MultithreadIterator(dataset, 2, shuffle=False, n_threads=2) as iterator:
        assert iterator.next() == ["a", "b"]
        for _ in range(2):
            with pytest.raises(OSError, match="not now") as caught:
                iterator.next()
            assert caught.value.__notes__ == ["MultithreadIterator: raised by dataset[3]."]
        assert iterator.current_position == 2
        dataset.broken = False
        assert iterator.next() == ["c", "d"]


def test_the_sampler_is_asked_when_the_serial_iterator_would():
    def told(make):
        said = []

        def sampler(order, position):
            said.append(len(handed))
            return [None, np.array([2, 0, 1, 1]), np.array([1])][len(said) % 3]

        handed = []
        iterator = make("abc", 2, order_sampler=sampler)
        for _ in range(9):
            handed.append(iterator.next())
        iterator.finalize()
        return handed, said

    assert told(MultithreadIterator) == told(SerialIterator)


def test_reset_forgets_what_was_on_its_way():
    with MultithreadIterator(range(6), 2, shuffle=False) as iterator:
        iterator.next()
        iterator.dataset = "abcdef"
        iterator.reset()
        assert iterator.next() == ["a", "b"]


def test_finalize_ends_the_threads_and_next_starts_new_ones():
    iterator = MultithreadIterator(range(6), 2, shuffle=False, n_threads=2)
    assert not threads()
    iterator.next()
    assert threads()
    iterator.finalize()
    assert not threads()
    iterator.close()
    assert iterator.next() == [2, 3]
    iterator.close()
    assert not threads()


def test_garbage_collection_ends_the_threads():
    iterator = MultithreadIterator(range(6), 2, shuffle=False)
    iterator.next()
    del iterator
    gc.collect()
    wait_until(lambda: not threads())


SCRIPT = """
import time
from core.datasets import TransformDataset
from core.iterators import MultithreadIterator

def load(i):
    time.sleep(0.2 if i >= 30 else 0)  # the second batch takes seconds
    print(i, flush=True)

iterator = MultithreadIterator(TransformDataset(range(60), load), 30, shuffle=False)
iterator.next()
"""


def test_a_program_that_ends_does_not_wait_for_examples_that_nobody_will_ask_for():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split()[:30] == [*map(str, range(30))]
    assert "59" not in done.stdout


@pytest.mark.parametrize("copied", [copy.copy, lambda i: pickle.loads(pickle.dumps(i))])
def test_a_copy_goes_on_by_itself(copied):
    with MultithreadIterator(range(6), 2, shuffle=False) as iterator:
        iterator.next()
        with copied(iterator) as other:
            assert other.next() == iterator.next() == [2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 2), "MultithreadIterator: .* empty dataset"),
        (([1], 0), "batch size of 1 or more"),
        (([1], 1, True, None, 0), "n_threads of 1 or more"),
        (([1], 1, True, True, 1, lambda order, position: order), "got both"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        MultithreadIterator(*arguments)
