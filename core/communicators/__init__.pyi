"""What `core.communicators` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.communicators.creation import create_communicator as create_communicator
from plugins.communicators.dummy import dummy as dummy
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

def of(distribution: str) -> Offer: ...
