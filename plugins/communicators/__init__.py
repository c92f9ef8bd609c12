"""Training on many processes and machines: communicators, and what is built on them."""

from __future__ import annotations

from core import hookimpl

provides = {
    "creation": "create_communicator",
    "datasets": (
        "DataSizeError create_empty_dataset get_epoch_trigger get_n_iterations_for_one_epoch "
        "scatter_dataset scatter_index"
    ),
    "dummy": "dummy",
    "evaluators": "GenericMultiNodeEvaluator create_multi_node_evaluator",
    "extensions": (
        "AllreducePersistent MultiNodeEarlyStoppingTrigger ObservationAggregator "
        "create_multi_node_checkpointer multi_node_snapshot"
    ),
    "iterators": ("PartitionedIterator create_multi_node_iterator create_synchronized_iterator"),
    "links": (
        "MultiNodeBatchNormalization MultiNodeChainList create_mnbn_model "
        "create_multi_node_n_step_rnn"
    ),
    "local": "local",
    "mpi": "mpi naive flat non_cuda_aware",
    "nccl": "nccl pure_nccl hierarchical",
    "optimizer": "create_multi_node_optimizer",
    "parts": "datasets evaluators extensions functions global_except_hook iterators links",
}
"""What each module gives; `parts` has the modules themselves, as ChainerMN's scripts name them."""


@hookimpl
def register_communicators() -> dict[str, str]:
    """Communicators by the names that `create_communicator` takes, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)
