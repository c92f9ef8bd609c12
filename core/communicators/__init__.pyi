"""What `core.communicators` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.communicators.creation import create_communicator as create_communicator
from plugins.communicators.datasets import DataSizeError as DataSizeError
from plugins.communicators.datasets import create_empty_dataset as create_empty_dataset
from plugins.communicators.datasets import get_epoch_trigger as get_epoch_trigger
from plugins.communicators.datasets import (
    get_n_iterations_for_one_epoch as get_n_iterations_for_one_epoch,
)
from plugins.communicators.datasets import scatter_dataset as scatter_dataset
from plugins.communicators.datasets import scatter_index as scatter_index
from plugins.communicators.dummy import dummy as dummy
from plugins.communicators.evaluators import GenericMultiNodeEvaluator as GenericMultiNodeEvaluator
from plugins.communicators.evaluators import (
    create_multi_node_evaluator as create_multi_node_evaluator,
)
from plugins.communicators.extensions import AllreducePersistent as AllreducePersistent
from plugins.communicators.extensions import (
    MultiNodeEarlyStoppingTrigger as MultiNodeEarlyStoppingTrigger,
)
from plugins.communicators.extensions import ObservationAggregator as ObservationAggregator
from plugins.communicators.extensions import (
    create_multi_node_checkpointer as create_multi_node_checkpointer,
)
from plugins.communicators.extensions import multi_node_snapshot as multi_node_snapshot
from plugins.communicators.iterators import PartitionedIterator as PartitionedIterator
from plugins.communicators.iterators import create_multi_node_iterator as create_multi_node_iterator
from plugins.communicators.iterators import (
    create_synchronized_iterator as create_synchronized_iterator,
)
from plugins.communicators.links import MultiNodeBatchNormalization as MultiNodeBatchNormalization
from plugins.communicators.links import MultiNodeChainList as MultiNodeChainList
from plugins.communicators.links import create_mnbn_model as create_mnbn_model
from plugins.communicators.links import create_multi_node_n_step_rnn as create_multi_node_n_step_rnn
from plugins.communicators.local import local as local
from plugins.communicators.mpi import flat as flat
from plugins.communicators.mpi import mpi as mpi
from plugins.communicators.mpi import naive as naive
from plugins.communicators.mpi import non_cuda_aware as non_cuda_aware
from plugins.communicators.nccl import hierarchical as hierarchical
from plugins.communicators.nccl import nccl as nccl
from plugins.communicators.nccl import pure_nccl as pure_nccl
from plugins.communicators.optimizer import (
    create_multi_node_optimizer as create_multi_node_optimizer,
)
from plugins.communicators.parts import datasets as datasets
from plugins.communicators.parts import evaluators as evaluators
from plugins.communicators.parts import extensions as extensions
from plugins.communicators.parts import functions as functions
from plugins.communicators.parts import global_except_hook as global_except_hook
from plugins.communicators.parts import iterators as iterators
from plugins.communicators.parts import links as links

def of(distribution: str) -> Offer: ...
