"""Means of drawn gradients, in buffers of every kind, beside their formulas."""

import numpy as np

import core
from core.communicators import create_communicator

DTYPES = ("float32", "float64", "float16")
comm = create_communicator("mpi", time_limit=60)
draws, own = np.random.default_rng(7), np.random.default_rng(comm.rank)  # of all, and of this rank


def drawn_model():
    model = core.ChainList()
    for _ in range(draws.integers(1, 12)):
        shape = tuple(draws.integers(0, 40, draws.integers(0, 4)).tolist())
        link = core.Link()
        with link.init_scope():
            link.W = core.Parameter(np.zeros(shape, draws.choice(DTYPES)))
        model.append(link)
    return model


for _ in range(60):
    model, travelling = drawn_model(), draws.choice([None, "float32", "float16"])
    comm.set_config("bucket_bytes", int(draws.choice([100, 10_000, 1 << 22])))
    comm.set_config("allreduce_grad_dtype", travelling)
    parameters = [p for _, p in sorted(model.namedparams())]
    holders = [draws.random(comm.size) < draws.choice([0.0, 0.5, 1.0]) for _ in parameters]
    given = [None] * len(parameters)
    for i, (p, ranks) in enumerate(zip(parameters, holders, strict=True)):
        gradient = own.integers(-8, 8, p.shape).astype(p.dtype)  # whose sums are exact
        if ranks[comm.rank]:
            given[i] = p.grad = gradient.T.copy().T  # also in the order of Fortran
    everywhere = comm.allgather_obj([None if g is None else g.copy() for g in given])
    given[::2] = [None] * len(given[::2])  # which nobody else holds: they may become their sums
    gradient = None
    comm.multi_node_mean_grad(model, zero_fill=True)
    for i, (p, gradients) in enumerate(zip(parameters, zip(*everywhere, strict=True), strict=True)):
        known = [g for g in gradients if g is not None]
        assert (p.grad is None) == (not known)
        if known:
            assert (p.grad.dtype, p.grad.shape) == (p.dtype, p.shape)
            mean = sum([g.astype("d") for g in known]) / comm.size
            width = 1e-3 if "float16" in (travelling, p.dtype.name) else 1e-6
            assert np.allclose(p.grad, mean, rtol=width, atol=8 * width), (p.dtype, travelling)
        if given[i] is not None:
            assert np.array_equal(given[i], gradients[comm.rank]), "the user's own was written to"
alone = create_communicator("dummy", time_limit=60)  # for which all ranks have what each has
model = core.links.Linear(2, 3)
for parameter in model.params():
    parameter.grad = np.full(parameter.shape, comm.rank, "f")
alone.multi_node_mean_grad(model)
assert all([(parameter.grad == comm.rank).all() for parameter in model.params()])
if comm.rank == 0:
    print(f"packed {comm.size}")
