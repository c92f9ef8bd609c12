"""Every name of ChainerMN's, with the arguments that its scripts give."""

import inspect

import pytest

import core
import core.communicators as chainermn
from core import registry
from core.training import Communicator

SIGNATURES = {
    "create_communicator": "communicator_name mpi_comm",
    "create_multi_node_optimizer": "actual_optimizer communicator double_buffering zero_fill",
    "create_multi_node_evaluator": "actual_evaluator communicator",
    "GenericMultiNodeEvaluator.__init__": "self comm iterator target device converter root",
    "scatter_dataset": "dataset comm root shuffle seed max_buf_len force_equal_length",
    "scatter_index": "n_total_samples comm root force_equal_length",
    "create_empty_dataset": "dataset",
    "get_n_iterations_for_one_epoch": "dataset local_batch_size comm",
    "get_epoch_trigger": "n_epochs dataset local_batch_size comm",
    "DataSizeError": None,
    "create_multi_node_iterator": "actual_iterator communicator rank_master",
    "create_synchronized_iterator": "actual_iterator communicator",
    "create_multi_node_checkpointer": "name comm cp_interval gc_interval path",
    "multi_node_snapshot": "comm snapshot replica_sets",
    "AllreducePersistent.__init__": "self model comm",
    "ObservationAggregator.__init__": (
        "self comm original_key aggregated_key comm_trigger aggregator"
    ),
    "MultiNodeEarlyStoppingTrigger.__init__": "self comm check_trigger monitor patients mode",
    "functions.send": "x communicator rank tag",
    "functions.recv": "communicator rank delegate_variable tag force_tuple",
    "functions.pseudo_connect": "delegate_variable actual_variables",
    "functions.allgather": "comm x",
    "functions.alltoall": "comm xs",
    "functions.bcast": "comm x root",
    "functions.gather": "comm x root",
    "functions.scatter": "comm xs root",
    "links.MultiNodeChainList.__init__": "self comm",
    "MultiNodeChainList.add_link": "self link rank_in rank_out",
    "links.MultiNodeBatchNormalization.__init__": "self size comm",
    "links.create_mnbn_model": "link comm",
    "links.create_multi_node_n_step_rnn": "actual_link communicator rank_in rank_out",
    "global_except_hook.add_hook": "",
    **{
        f"{module}.__doc__": None
        for module in ("datasets", "evaluators", "extensions", "iterators")
    },
}
METHODS = {
    "split": "color key", "finalize": "", "send": "data dest tag", "recv": "source tag",
    "bcast": "data root", "gather": "data root", "allgather": "x", "alltoall": "xs",
    "scatter": "xs root", "allreduce": "data", "send_obj": "obj dest tag", "recv_obj": "source tag",
    "bcast_obj": "obj root", "gather_obj": "obj root", "allreduce_obj": "obj",
    "bcast_data": "model", "broadcast_data": "model", "multi_node_mean_grad": "model zero_fill",
    "allreduce_grad": "model zero_fill", "set_config": "name value", "get_config": "name",
}  # fmt: skip
WITHOUT_COMMUNICATOR = {
    "AllreducePersistent": lambda f: f(core.Link(), None),
    "GenericMultiNodeEvaluator": lambda f: f(None, [], core.Link()),
    "MultiNodeBatchNormalization": lambda f: f(3, None),
    "MultiNodeChainList": lambda f: f(None),
    "MultiNodeEarlyStoppingTrigger": lambda f: f(None),
    "ObservationAggregator": lambda f: f(None, "main/loss"),
    "PartitionedIterator": lambda f: f([1, 2], 2, None),
    "create_mnbn_model": lambda f: f(core.Link(), None),
    "create_multi_node_checkpointer": lambda f: f("name", None),
    "create_multi_node_iterator": lambda f: f(None, None),
    "create_multi_node_n_step_rnn": lambda f: f(core.Link(), None),
    "create_synchronized_iterator": lambda f: f(None, None),
    "get_n_iterations_for_one_epoch": lambda f: f([1], 1, None),
    "multi_node_snapshot": lambda f: f(None, core.training.extensions.snapshot()),
    "scatter_dataset": lambda f: f([1], None),
}
PLACES = ("rank", "size", "intra_rank", "intra_size", "inter_rank", "inter_size")


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_name_is_there_with_its_arguments(name):
    found = chainermn
    for part in name.split("."):
        found = getattr(found, part)
    if SIGNATURES[name] is not None:
        begins = SIGNATURES[name].split()
        assert [*inspect.signature(found).parameters][: len(begins)] == begins


@pytest.mark.parametrize(
    "name",
    [
        "local",
        "naive",
        "flat",
        "non_cuda_aware",
        "mpi",
        "nccl",
        "pure_nccl",
        "hierarchical",
        "dummy",
    ],
)
def test_a_communicator_has_the_methods(name):
    kind = registry.catalogue("communicators").get(name)
    assert issubclass(kind, Communicator)
    for method, arguments in METHODS.items():
        begins = ["self", *arguments.split()]
        found = [*inspect.signature(getattr(kind, method)).parameters]
        assert found[: len(begins)] == begins, method


@pytest.mark.parametrize("name", WITHOUT_COMMUNICATOR)
def test_what_is_no_communicator_is_refused(name):
    with pytest.raises(TypeError, match="expected comm to be what create_communicator"):
        WITHOUT_COMMUNICATOR[name](getattr(chainermn, name))


def test_a_process_alone_knows_its_place():
    comm = chainermn.create_communicator("local")
    assert [getattr(comm, name) for name in PLACES] == [0, 1, 0, 1, 0, 1]
