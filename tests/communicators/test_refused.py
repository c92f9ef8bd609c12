"""What a process alone is told that goes wrong in the same way on many ranks."""

import numpy as np
import pytest

import core
import core.communicators as chainermn
import core.links as L
from core.errors import CommunicatorError
from core.iterators import SerialIterator
from core.training import extensions

comm = chainermn.create_communicator("local")


def evaluator():
    return extensions.Evaluator(SerialIterator([1], 1, repeat=False), L.Linear(1, 1))


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (chainermn.create_multi_node_optimizer, core.optimizers.SGD),
        (chainermn.create_multi_node_evaluator, evaluator),
    ],
)
def test_what_is_of_all_ranks_already_is_not_taken_twice(make, given):
    with pytest.raises(TypeError, match="expected one of a process alone, got a MultiNode.*as it"):
        make(make(given(), comm), comm)


class Silent(chainermn.GenericMultiNodeEvaluator):
    def calc_local(self, x):
        return x

    def aggregate(self, results):
        """Nothing is returned."""


class SilentAlone(extensions.Evaluator):
    def evaluate(self):
        """Nothing is returned."""


def test_evaluators_that_return_nothing_are_told_where():
    batches, model = SerialIterator([1], 1, repeat=False), L.Linear(1, 1)
    alone = SilentAlone(batches, model)
    together = chainermn.create_multi_node_evaluator(SilentAlone(batches, model), comm)
    for each in (Silent(comm, batches, model), alone, together):
        with pytest.raises(TypeError, match="Silent.*(evaluate|aggregate): expected a dict .*None"):
            each()


def test_replica_sets_are_lists_of_ranks():
    with pytest.raises(TypeError, match="expected replica_sets to be lists of ranks, got int"):
        chainermn.multi_node_snapshot(comm, extensions.snapshot(), [0])


def test_what_no_sum_and_no_message_can_be_made_of_is_named(monkeypatch):
    monkeypatch.setattr(comm, "allgather_obj", lambda obj: [obj, obj])
    with pytest.raises(CommunicatorError, match="allreduce_obj: .* adds, got dict: .* allgather_o"):
        comm.allreduce_obj({"a": 1})
    monkeypatch.undo()
    monkeypatch.setattr(comm, "_peer", lambda *args: 1)
    with pytest.raises(CommunicatorError, match="send: expected a Variable, or a tuple of one at"):
        core.communicators.functions.send((), comm, 1)
    monkeypatch.undo()
    with pytest.raises(TypeError, match="scatter_dataset: expected a dataset with examples by ind"):
        chainermn.scatter_dataset({"a": 1}, comm)


def test_settings_that_are_changed_after_a_step_hold_from_the_next_one():
    own = chainermn.create_communicator("local")
    optimizer = chainermn.create_multi_node_optimizer(core.optimizers.SGD(0.1), own)
    model = L.Classifier(L.Linear(2, 3))
    optimizer.setup(model)
    seen = []

    def isum(buffer, weight=1.0, bounds=None):
        seen.append((buffer.size, buffer.dtype.name))
        return type(own).isum(own, buffer, weight, bounds)

    own.isum = isum

    def step():
        seen.clear()
        optimizer.update(model, np.ones((1, 2), "f"), np.zeros(1, "i"))
        return sorted(seen)

    assert step() == [(9, "float32")]
    own.set_config("bucket_bytes", 4)
    assert step() == step() == [(3, "float32"), (6, "float32")]
    own.set_config("allreduce_grad_dtype", "float16")
    assert step() == [(3, "float16"), (6, "float16")]


def test_an_error_of_a_divided_dataset_names_the_index():
    class Torn(list):
        def __getitem__(self, index):
            raise OSError("torn")

    with pytest.raises(OSError, match="torn") as caught:
        chainermn.PartitionedIterator(Torn([1, 2]), 2, comm, shuffle=False).next()
    assert caught.value.__notes__ == ["PartitionedIterator: raised by dataset[0]."]
