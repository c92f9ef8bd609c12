from core import datasets, iterators


def test_batches_of_it():
    batch = iterators.SerialIterator(datasets.Thing(10), 4, shuffle=False).next()
    assert len(batch) == 4
    x, y = batch[3]
    assert y == x * x
