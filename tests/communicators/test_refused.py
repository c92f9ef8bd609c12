"""What a process alone is told that goes wrong in the same way on many ranks."""

import pytest

import core
import core.communicators as chainermn
import core.links as L
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
