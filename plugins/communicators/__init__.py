"""Training on many processes and machines: communicators, and what is built on them."""

from __future__ import annotations

from core import hookimpl

provides = {
    "creation": "create_communicator",
    "dummy": "dummy",
    "local": "local",
    "mpi": "mpi naive flat non_cuda_aware",
    "optimizer": "create_multi_node_optimizer",
    "nccl": "nccl pure_nccl hierarchical",
}


@hookimpl
def register_communicators() -> dict[str, str]:
    """Communicators by the names that `create_communicator` takes, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)
