"""Two ranks train on the arrays of a library, and get what they get on NumPy's.

Arrays that never change have to be handed back: what is summed, sent and averaged gives others.
"""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np

import core
import core.functions as F
import core.links as L
from core import communicators, optimizers

TESTS = Path(__file__).parents[2]
name = sys.argv[1]
if name in ("unchanging", "strict"):
    sys.path.insert(0, str(TESTS))
    module = {"unchanging": "unchanging", "strict": "strict_backend"}[name]
    core.backend.register(getattr(import_module(module), f"{name.title()}Backend")())
elif name not in core.backend.names():
    sys.path.insert(0, str(TESTS.parent / "examples" / f"plugin_{name}"))
    backend = import_module(f"plugrad_{name}.backend")
    core.backend.register(getattr(backend, f"{name.title()}Backend")())
comm = communicators.create_communicator("mpi", bucket_bytes=64)
X = np.random.default_rng(comm.rank).standard_normal((6, 3)).astype("f")
T = np.array([0, 1, 0, 1, 1, 0])


class Model(core.Chain):
    def __init__(self, seed):
        super().__init__()
        with self.init_scope():
            self.first, self.last = L.Linear(3, 4), L.Linear(4, 2)
            self.own = L.BatchNormalization(4)
            self.shared = communicators.links.MultiNodeBatchNormalization(4, comm)
        rng = np.random.default_rng(seed)
        for _, parameter in sorted(self.namedparams()):
            parameter.array = rng.standard_normal(parameter.shape).astype("f")

    def forward(self, x, t):
        h = self.shared(F.relu(self.own(self.first(x))))
        return F.softmax_cross_entropy(self.last(h), t)


def trained(place, **how):
    """All that a model has after some steps."""
    model = Model(comm.rank).to_device(place)  # rank 0 gives its parameters to all
    device = core.get_device(place)
    x, t = device.send(X), device.send(T)
    optimizer = communicators.create_multi_node_optimizer(optimizers.Adam(), comm, **how)
    optimizer.setup(model)
    for _ in range(3):
        optimizer.update(model, x, t)
    communicators.AllreducePersistent(model, comm)()
    found = {path: p.array for path, p in model.namedparams()}
    found |= {
        f"{path}:{each}": getattr(link, each)
        for path, link in model.namedlinks()
        for each in link._persistent
        if hasattr(getattr(link, each), "dtype")
    }
    found["allreduce"] = comm.allreduce(x)
    for each in found.values():
        assert core.backend.of(each).name == place, type(each)
    return {key: core.backend.to_host(each) for key, each in found.items()}


for how in ({}, {"shard_state": True}, {"double_buffering": True}):
    found, expected = trained(name, **how), trained("numpy", **how)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=2e-4, atol=2e-5, err_msg=f"{how} {key}")
if comm.rank == 0:
    print("alike")
