from core import iterators, serializers


def test_passes_over_a_dataset():
    batches = iterators.Thing(list(range(5)), 2)
    seen = [batches.next() for _ in range(4)]
    assert seen == [[0, 1], [2, 3], [4], [0, 1]]
    assert batches.epoch == 1
    assert batches.epoch_detail == 1.4


def test_it_goes_on_where_it_was_saved(tmp_path):
    batches = iterators.Thing(list(range(5)), 2)
    batches.next()
    serializers.save_npz(tmp_path / "position.npz", batches)
    other = iterators.Thing(list(range(5)), 2)
    serializers.load_npz(tmp_path / "position.npz", other)
    assert other.next() == batches.next() == [2, 3]
