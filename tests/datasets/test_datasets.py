"""Datasets: indexing, splitting, and the bundled digits."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core import datasets as D
from core.communicators import PartitionedIterator, create_communicator, scatter_dataset
from core.dataset import DatasetMixin, Iterator
from core.iterators import SerialIterator

lengths = st.integers(2, 20)


class Tens(DatasetMixin):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def get_example(self, i):
        return i * 10


@given(lengths, st.data())
def test_slices_lists_and_arrays_give_lists(length, data):
    index = data.draw(st.slices(length))
    expected = [i * 10 for i in range(length)][index]
    positions = list(range(length))[index]
    for dataset in (Tens(length), D.TransformDataset(range(length), lambda i: i * 10)):
        assert dataset[index] == expected
        assert dataset[positions] == expected
        assert dataset[np.array(positions, int)] == expected
    pairs = D.TupleDataset(Tens(length), np.arange(length))
    assert pairs[index] == pairs[positions] == list(zip(expected, positions, strict=True))
    assert pairs[np.array(positions, int)] == pairs[index]
    named = D.DictDataset(a=Tens(length), b=range(length))
    assert [example["a"] for example in named[index]] == expected
    assert named[positions] == named[index]


def test_a_mask_is_not_taken_for_positions():
    for dataset in (Tens(3), D.TupleDataset(np.arange(3)), D.DictDataset(a=np.arange(3))):
        of_numpy = np.array([True, False, True])
        for mask in (of_numpy, of_numpy.tolist(), [*of_numpy]):
            with pytest.raises(TypeError, match="mask of booleans"):
                dataset[mask]


def test_a_dataset_defines_examples_or_indexing():
    class Bare(DatasetMixin):
        def __len__(self):
            return 1

    class Indexed(Bare):
        def __getitem__(self, index):
            return index

    with pytest.raises(NotImplementedError, match=r"Bare: expected get_example\(i\) to be defined"):
        Bare()[0]
    assert Indexed()[0] == 0


def test_iteration_ends():
    assert list(Tens(3)) == list(D.ConcatenatedDataset(Tens(3))) == [0, 10, 20]
    assert list(D.SubDataset(Tens(9), 1, 3)) == [10, 20]
    assert list(D.TransformDataset(Tens(3), abs)) == [0, 10, 20]
    assert list(D.TupleDataset(Tens(2), Tens(2))) == [(0, 0), (10, 10)]
    assert list(D.DictDataset(a=Tens(2))) == [{"a": 0}, {"a": 10}]


@given(lengths, st.integers(-30, 30), st.sampled_from([int, np.int64, np.int8, np.array]))
def test_one_position_is_that_of_a_list_or_refused(length, index, kind):
    expected = list(range(0, 10 * length, 10))
    pairs = D.TupleDataset(Tens(length), expected)
    named = D.DictDataset(a=Tens(length), b=expected)
    table = D.from_data({"a": Tens(length), "b": expected})
    for dataset in (Tens(length), D.TransformDataset(Tens(length), abs), pairs, named, table):
        if -length <= index < length:
            found = dataset[kind(index)]
            wanted = {"a": expected[index], "b": expected[index]}
            assert found in (expected[index], tuple(wanted.values()), wanted)
            assert dataset[[index]] == [found]
        else:
            for outside in (kind(index), [kind(index)]):
                with pytest.raises(IndexError, match=f"index {index} is outside of {length}"):
                    dataset[outside]


made_of_three = pytest.mark.parametrize(
    "make",
    [
        lambda column: D.TupleDataset(column, [0, 1, 2]),
        lambda column: D.DictDataset(a=column),
        lambda column: D.SubDataset(column, 0, 3),
        lambda column: D.TransformDataset(column, int),
        D.ConcatenatedDataset,
        lambda column: SerialIterator(column, 2, shuffle=False),
    ],
)


@made_of_three
@pytest.mark.parametrize("other", [iter("abc"), {1, 2, 3}, len], ids=["once", "set", "function"])
def test_what_has_no_examples_by_index_is_refused(make, other):
    with pytest.raises(TypeError, match=r"\w: expected a dataset with examples by index, got a di"):
        make({"x": 1, "y": 2, "z": 3})
    with pytest.raises(TypeError, match=r"\w: expected a dataset with a length and .* Make a list"):
        make(other)


@made_of_three
def test_what_has_its_examples_by_label_is_refused(make):
    """A Series that has been shuffled gave the examples of other positions."""
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([10, 20, 30])
    assert len(list(itertools.islice(make(column), 3))) == 3
    for other in (
        column.sample(frac=1, random_state=1),
        column[1:],
        pandas.DataFrame({"a": column}),
    ):
        with pytest.raises(TypeError, match="by label. Give core.datasets.from_data"):
            make(other)


@pytest.mark.parametrize("make", [D.TupleDataset, lambda *d: D.DictDataset(a=d[0], b=d[1])])
def test_lengths_must_agree(make):
    with pytest.raises(ValueError, match=r"has 2.*has 3"):
        make([1, 2], [1, 2, 3])


def test_tuples_need_something_to_be_made_of():
    with pytest.raises(ValueError, match="at least one"):
        D.TupleDataset()


@given(st.lists(st.lists(st.integers()), max_size=4), st.integers(-20, 20))
def test_concatenation_is_that_of_lists(parts, i):
    whole, joined = sum(parts, []), D.ConcatenatedDataset(*parts)
    assert len(joined) == len(whole)
    if -len(whole) <= i < len(whole):
        assert joined[i] == whole[i]
    else:
        with pytest.raises(IndexError):
            joined[i]


@given(lengths, st.data())
def test_splits_are_partitions(length, data):
    at = data.draw(st.integers(0, length))
    for first, second in (
        D.split_dataset(range(length), at),
        D.split_dataset_random(range(length), at, seed=3),
        D.split_dataset_random(range(length), at),
        D.split_dataset(range(length), at, order=np.random.permutation(length)),
    ):
        assert len(first) == at
        assert sorted(first[:] + second[:]) == list(range(length))
    folds = data.draw(st.integers(2, length))
    for pairs in (
        D.get_cross_validation_datasets(range(length), folds),
        D.get_cross_validation_datasets_random(range(length), folds, seed=1),
    ):
        assert sorted(sum((v[:] for _, v in pairs), [])) == list(range(length))
        assert all(sorted(t[:] + v[:]) == list(range(length)) for t, v in pairs)
    for parts in (
        D.split_dataset_n(range(length), folds),
        D.split_dataset_n_random(range(length), folds),
    ):
        used = sum((p[:] for p in parts), [])
        assert {len(p) for p in parts} == {length // folds} and len(set(used)) == len(used)


def test_splits_are_those_of_chainer():
    """What Chainer 7.8.1 gives for these orders and seeds."""

    def parts(found):
        return [part[:] for part in found]

    order = [3, 1, 0, 2, 4]
    assert parts(D.split_dataset(range(5), 2, order)) == [[3, 1], [0, 2, 4]]
    assert parts(D.split_dataset_random(range(6), 2, seed=3)) == [[3, 5], [4, 1, 0, 2]]
    assert parts(D.split_dataset_n_random(range(7), 3, seed=3)) == [[4, 6], [5, 3], [1, 0]]
    folds = D.get_cross_validation_datasets(range(5), 2, order)
    assert [parts(pair) for pair in folds] == [[[3, 1], [0, 2, 4]], [[0, 2, 4], [3, 1]]]
    folds = D.get_cross_validation_datasets(range(5), n_fold=3)
    assert [parts(pair) for pair in folds] == [
        [[0, 1, 2], [3, 4]],
        [[3, 4, 0], [1, 2]],
        [[1, 2, 3, 4], [0]],
    ]
    folds = D.get_cross_validation_datasets_random(range(6), 3, seed=1)
    assert [parts(pair) for pair in folds] == [
        [[2, 1, 4, 0], [3, 5]],
        [[3, 5, 2, 1], [4, 0]],
        [[4, 0, 3, 5], [2, 1]],
    ]


def test_a_seed_fixes_a_split():
    first, again = (D.split_dataset_random(range(30), 10, seed=5)[0][:] for _ in range(2))
    assert first == again


def test_the_seed_of_all_random_numbers_fixes_a_split():
    def drawn(seed):
        core.seed(seed)
        folds = D.get_cross_validation_datasets_random(range(30), 3)
        return D.split_dataset_random(range(30), 10)[0][:], [fold[:] for fold, _ in folds]

    try:
        assert drawn(3) == drawn(3) != drawn(4)
    finally:
        core.seed(None)


@pytest.mark.parametrize(
    "call",
    [
        lambda: D.split_dataset([1, 2], 3),
        lambda: D.split_dataset([1, 2], -1),
        lambda: D.split_dataset_n([1, 2], 3),
        lambda: D.get_cross_validation_datasets([1, 2], 1),
        lambda: D.get_cross_validation_datasets([1, 2], 3),
        lambda: D.get_cross_validation_datasets([1, 2]),
        lambda: D.SubDataset([1, 2], 1, 3),
        lambda: D.SubDataset([1, 2], 0, 1, order=[0]),
        lambda: D.split_dataset([1, 2], 1, order=[0, 2]),
        lambda: D.get_digits(ndim=4),
    ],
)
def test_impossible_parts_are_refused(call):
    with pytest.raises(ValueError, match="expected"):
        call()


@pytest.mark.parametrize("order", [[True, False], np.array([0.0, 1.5]), "ab", [[0], [1]]])
def test_an_order_that_is_none_is_refused(order):
    with pytest.raises(TypeError, match="SubDataset: expected an order of integers, got"):
        D.split_dataset([1, 2], 1, order)


def test_digits_are_those_of_scikit_learn_where_it_is_installed():
    load = pytest.importorskip("sklearn.datasets").load_digits
    train, test = D.get_digits(scale=16.0)
    images = np.concatenate([np.stack([x for x, _ in part[:]]) for part in (train, test)])
    labels = np.concatenate([[t for _, t in part[:]] for part in (train, test)])
    expected = load()

    def ordered(x, t):
        rows = np.concatenate([x, t[:, None]], 1)
        return rows[np.lexsort(rows.T)]

    np.testing.assert_array_equal(ordered(images, labels), ordered(expected.data, expected.target))


def test_digits_split_and_forms():
    train, test = D.get_digits()
    assert (len(train), len(test)) == (1437, 360)
    for part in (train, test):
        labels = np.array([t for _, t in part[:]])
        assert labels.dtype == np.int32
        counts = np.bincount(labels, minlength=10) / len(labels)
        assert np.abs(counts - 0.1).max() < 0.01  # both parts have all digits alike
    image, label = test[0]
    assert image.dtype == np.float32 and image.shape == (64,)
    assert image.min() == 0 and image.max() <= 1
    for ndim, shape in {1: (64,), 2: (8, 8), 3: (1, 8, 8)}.items():
        images, _ = D.get_digits(withlabel=False, ndim=ndim, scale=2.0)
        assert images.shape == (1437, *shape) and images.dtype == np.float32
        assert images.max() == 2
    assert not {x.tobytes() for x, _ in train[:]} & {x.tobytes() for x, _ in test[:]}


def test_datasets_and_iterators_tell_what_they_are_to_whoever_looks():
    class Forgetful(DatasetMixin):
        def __init__(self):
            pass

        def __len__(self):
            return self.length

    pairs = D.TupleDataset(range(2000), range(2000))
    assert repr(pairs) == "<TupleDataset: 2,000 examples>"
    assert repr(D.DictDataset(x=[1])) == "<DictDataset: 1 example>"
    assert repr(D.split_dataset(pairs, 3)[0]) == "<SubDataset: 3 examples>"
    assert repr(Forgetful()).startswith("<") and "Forgetful object at" in repr(Forgetful())
    iterator = SerialIterator(pairs, 500)
    iterator.next()
    told = "<SerialIterator: batches of 500 from <TupleDataset: 2,000 examples>, epoch 0.25>"
    assert repr(iterator) == told
    assert "Iterator object at" in repr(Iterator())


def test_a_transform_of_the_parts_of_an_example_is_told_that_it_gets_the_whole():
    pairs = D.TupleDataset([1, 2], [3, 4])
    with pytest.raises(TypeError) as caught:
        D.TransformDataset(pairs, lambda x, t: x + t)[0]
    assert "with one argument, the whole example" in caught.value.__notes__[0]
    with pytest.raises(TypeError) as caught:
        D.TransformDataset(pairs, lambda example: example + 1)[0]
    assert not hasattr(caught.value, "__notes__")
    assert D.TransformDataset(pairs, sum)[1] == 6
    with pytest.raises(TypeError, match="TransformDataset: expected a function of an .* got 3"):
        D.TransformDataset(pairs, 3)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: D.split_dataset_random([1, 2], 1, seed),
        lambda seed: D.split_dataset_n_random([1, 2], 2, seed),
        lambda seed: D.get_cross_validation_datasets_random([1, 2], 2, seed),
        lambda seed: scatter_dataset([1, 2], create_communicator("local"), 0, True, seed),
        lambda seed: PartitionedIterator([1, 2], 1, create_communicator("local"), seed=seed),
    ],
)
def test_a_negative_seed_is_refused_by_name(make):
    with pytest.raises(ValueError, match=r"\w: expected seed to be a whole number in \[0, .* -1"):
        make(-1)
    make(np.int64(3))


@pytest.mark.parametrize(
    "split",
    [
        D.split_dataset,
        D.split_dataset_random,
        D.split_dataset_n,
        D.split_dataset_n_random,
        D.get_cross_validation_datasets,
        D.get_cross_validation_datasets_random,
    ],
)
@pytest.mark.parametrize("dataset", [None, 3, iter([1, 2, 3])])
def test_what_is_no_dataset_is_named_where_it_is_divided(split, dataset):
    with pytest.raises(TypeError, match=f"{split.__name__}: expected a dataset with a length and"):
        split(dataset, 2)


@pytest.mark.parametrize("order", [3, iter([0, 1, 2])])
def test_an_order_without_a_length_is_refused(order):
    with pytest.raises(TypeError, match="SubDataset: expected an order of integers, got"):
        D.SubDataset("abc", 0, 2, order=order)
