"""Evaluation that is divided among the ranks."""

from __future__ import annotations

from typing import Any

import core
from core.dataset import concat_examples
from core.errors.kinds import checked
from core.training import Communicator, on_host
from core.training.reporter import report_scope
from plugins.communicators.argument import refuse_again, refuse_no_communicator, refuse_other
from plugins.training.calling import call_with
from plugins.training.extensions.evaluator import Evaluator, found_by


class MultiNodeEvaluator(Evaluator):
    """What `create_multi_node_evaluator` puts before the class of an evaluator."""

    ranks = "together"

    _communicator: Communicator

    def evaluate(self) -> dict[str, Any]:
        """The means over all ranks, on all of them."""
        self._weights = {}
        own = found_by(f"{type(self).__name__}.evaluate", super().evaluate())
        means = {key: _number(value) for key, value in own.items()}
        dataset: Any = getattr(self.get_iterator("main"), "dataset", None)
        examples = len(dataset) if hasattr(dataset, "__len__") else 1
        everywhere = self._communicator.allgather_obj(
            {key: (self._weights.get(key, examples), value) for key, value in means.items()}
        )
        found: dict[str, Any] = {}
        for key in dict.fromkeys([key for each in everywhere for key in each]):
            known = [each[key] for each in everywhere if key in each]
            found[key] = sum(w * value for w, value in known) / sum(w for w, _ in known)
        return found


def _number(value: Any) -> Any:
    return on_host(value)[()] if hasattr(value, "dtype") else value


@checked
def create_multi_node_evaluator(actual_evaluator: Evaluator, communicator: Communicator) -> Any:
    """An evaluator of which each rank evaluates its part, and all get the mean.

    The parts, as `scatter_dataset` makes them with `force_equal_length=False`, count as they would
    in one process: each value by the weights that it was reported with, or by the examples of its
    batches; what an `evaluate` of your own adds, by the examples of the part. It shares all that
    `actual_evaluator` has.
    """
    who = "create_multi_node_evaluator"
    refuse_other(who, "actual_evaluator", actual_evaluator, Evaluator, "an evaluator")
    refuse_other(who, "communicator", communicator, Communicator, "a communicator")
    refuse_again(who, actual_evaluator, MultiNodeEvaluator)
    own = type(actual_evaluator)
    made: Any = object.__new__(type(f"MultiNode{own.__name__}", (MultiNodeEvaluator, own), {}))
    made.__dict__ = vars(actual_evaluator)
    made._communicator = communicator
    return made


class GenericMultiNodeEvaluator(Evaluator):
    """Base of evaluators whose result is no mean over the ranks.

    Each rank calls `calc_local` with the arrays of its batches; the rank `root` calls `aggregate`
    with a list of all that they returned, in the order of the ranks, and its dict, on all ranks, is
    what is reported.
    """

    ranks = "together"

    @checked
    def __init__(
        self,
        comm: Communicator,
        iterator: Any,
        target: Any,
        device: Any = None,
        converter: Any = None,
        root: int = 0,
        eval_hook: Any = None,
        *,
        progress_bar: bool = False,
    ) -> None:
        refuse_no_communicator("GenericMultiNodeEvaluator", comm)
        super().__init__(
            iterator,
            target,
            concat_examples if converter is None else converter,
            device,
            eval_hook,
            progress_bar=progress_bar,
        )
        self.comm = comm
        self.root = root

    def calc_local(self, *args: Any, **kwargs: Any) -> Any:
        """What is to be known of a batch of this rank."""
        raise NotImplementedError(f"{type(self).__name__}: expected calc_local to be defined.")

    def aggregate(self, results: list[Any]) -> dict[str, Any]:
        """The values that are reported, of the results of all batches of all ranks."""
        raise NotImplementedError(f"{type(self).__name__}: expected aggregate to be defined.")

    def evaluate(self) -> dict[str, Any]:
        """What `aggregate` returns, on all ranks."""
        if self.eval_hook is not None:
            self.eval_hook(self)
        results: list[Any] = []
        for batch in self._watched(self._fresh(self.get_iterator("main"))):
            with report_scope({}), core.no_backprop_mode():
                arrays = self.converter(batch, self.device)
                call_with(lambda *a, **k: results.append(self.calc_local(*a, **k)), arrays)
        everywhere = self.comm.gather_obj(results, self.root)
        found = None
        if everywhere is not None:
            found = self.aggregate([result for each in everywhere for result in each])
        found = self.comm.bcast_obj(found, self.root)
        return dict(found_by(f"{type(self).__name__}.aggregate", found))
