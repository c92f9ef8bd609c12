"""Differentiable functions, whose gradients are proved across ranks by finite differences."""

import numpy as np

import core
import core.functions as F
import core.links as L
from core import communicators as chainermn
from core.communicators import create_communicator

C = chainermn.functions
comm = create_communicator("mpi", time_limit=10)
rank, size = comm.rank, comm.size
generator = np.random.default_rng(rank)
WEIGHTS = [generator.standard_normal((2, 3)) for _ in range(size)]


def ring(x, begin=None):
    """Each rank sends to the next; the first begins."""
    if size == 1:
        return F.sum(x**3 * WEIGHTS[0])
    if rank == 0:
        delegate = C.send((x**2, x), comm, 1)
        back = C.recv(comm, size - 1, delegate)
        return F.sum(back**2 * WEIGHTS[0])
    square, plain = C.recv(comm, rank - 1, begin)
    delegate = C.send((square * x, plain) if rank < size - 1 else square * plain * x, comm,
                      (rank + 1) % size)  # fmt: skip
    return C.pseudo_connect(delegate, F.sum(x**2 * WEIGHTS[0]))


def gathered(x):
    return sum(F.sum(y**2 * w) for y, w in zip(C.allgather(comm, x**2), WEIGHTS, strict=True))


def exchanged(x):
    ys = C.alltoall(comm, [x ** (i + 1) for i in range(size)])
    return sum(F.sum(y**2 * w) for y, w in zip(ys, WEIGHTS, strict=True))


def spread(x, begin=None):
    y = C.bcast(comm, x**2 if rank == size - 1 else begin, size - 1)
    return F.sum(y**2 * WEIGHTS[0]) + F.sum(x * x)


def collected(x):
    y = C.gather(comm, x**2, size - 1)
    if rank != size - 1:
        return C.pseudo_connect(y, F.sum(x * x))
    return sum(F.sum(each**2 * w) for each, w in zip(y, WEIGHTS, strict=True))


def divided(x, begin=None):
    parts = [x ** (i + 1) for i in range(size)] if rank == 0 else begin
    return F.sum(C.scatter(comm, parts) ** 2 * WEIGHTS[0]) + F.sum(x * x)


def summed(x):
    return F.sum(C.allreduce(comm, x**2) ** 2 * WEIGHTS[0])


def total(function, x):
    """The sum of what all ranks compute."""
    with core.no_backprop_mode():
        y = function(core.Variable(x)).array
    return float(comm.allreduce(np.asarray(y)))


def differences(function, x, step=1e-5):
    """The gradient of the sum for the input of this rank, one element after the other."""
    found = np.zeros_like(x)
    for owner in range(size):
        for i in range(x.size):
            values = []
            for change in (step, -step):
                moved = x.copy()
                if rank == owner:
                    moved.flat[i] += change
                values.append(total(function, moved))
            if rank == owner:
                found.flat[i] = (values[0] - values[1]) / (2 * step)
    return found


def check(function):
    x = core.Variable(generator.uniform(0.5, 1.5, (2, 3)))
    y = function(x)
    y.backward()
    expected = differences(function, x.array)
    np.testing.assert_allclose(x.grad, expected, rtol=1e-6, atol=1e-6, err_msg=function.__name__)

    # The gradient of a sum of gradients, against differences of first gradients.
    def first(x):
        begin = core.Variable(np.zeros(1, "f"))  # where a rank receives before it has anything
        function(x, *[begin] * (function in (ring, spread, divided))).backward(
            enable_double_backprop=True
        )
        gx = x.grad_var
        x.cleargrad()
        return C.pseudo_connect(begin.grad_var, F.sum(gx * WEIGHTS[-1]))

    def plain(x):
        x = core.Variable(x.array)
        with core.force_backprop_mode():
            y = function(x)
        y.backward()
        return F.sum(x.grad * WEIGHTS[-1])

    x = core.Variable(x.array)
    first(x).backward()
    expected = differences(plain, x.array)
    name = f"{function.__name__}, twice"
    np.testing.assert_allclose(x.grad, expected, rtol=1e-5, atol=1e-5, err_msg=name)


def chain_list():
    """A model over ranks gives what the same model gives on one."""
    core.seed(0)
    parts = [L.Linear(3, 4), L.Linear(4, 4), L.Linear(4, 2)]
    x = np.random.default_rng(9).standard_normal((5, 3)).astype("f")
    loss = F.sum(parts[2](F.tanh(parts[1](F.tanh(parts[0](x))))) ** 2)
    loss.backward()
    expected = [p.grad for part in parts for _, p in sorted(part.namedparams())]
    homes = [0, min(1, size - 1), size - 1]
    model = chainermn.MultiNodeChainList(comm)
    own = []
    for i, home in enumerate(homes):
        if home == rank:
            rank_in, rank_out = homes[i - 1] if i else None, homes[i + 1] if i < 2 else None
            parts[i].cleargrads()
            own.append(i)
            model.add_link(core.Sequential(parts[i], *[F.tanh] * (i < 2)), rank_in, rank_out)
    if own:
        y = model(x)
        (F.sum(y**2) if 2 in own else y).backward()
    found = [p.grad for part in parts for _, p in sorted(part.namedparams())]
    for i in own:
        for j in (2 * i, 2 * i + 1):
            np.testing.assert_allclose(found[j], expected[j], rtol=1e-4, atol=1e-6)


def batch_normalization():
    """N ranks normalize as one does with the whole batch, uneven parts included."""
    x = np.random.default_rng(9).standard_normal((8, 3, 2)).astype("f")
    w = np.random.default_rng(8).standard_normal((8, 3, 2)).astype("f")
    whole = core.Sequential(L.BatchNormalization(3), lambda h: F.mean(F.sum(h * w, axis=(1, 2))))
    model = chainermn.create_mnbn_model(core.Sequential(L.BatchNormalization(3)), comm)
    xv = core.Variable(x)
    loss = whole(xv)
    loss.backward()
    cuts = [0, *range(2, size + 1), 8]  # the last rank has most
    mine = slice(cuts[rank], cuts[rank + 1])
    part = core.Variable(x[mine])
    own = F.mean(F.sum(model(part) * w[mine], axis=(1, 2)))
    own.backward()
    share = (cuts[rank + 1] - cuts[rank]) / 8
    np.testing.assert_allclose(part.grad * share, xv.grad[mine], rtol=1e-3, atol=1e-5)
    for name in ("avg_mean", "avg_var"):
        found, expected = getattr(model[0], name), getattr(whole[0], name)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    for name in ("gamma", "beta"):
        sum_ = comm.allreduce(getattr(model[0], name).grad * np.float32(share))
        np.testing.assert_allclose(sum_, getattr(whole[0], name).grad, rtol=1e-3, atol=1e-5)


def narrow_batch_normalization():
    """Sums over a batch of 16-bit floats exceed what these hold; its statistics do not."""
    x = np.random.default_rng(9).normal(3, 1, (16 * size, 2, 64, 64)).astype("e")
    link = L.BatchNormalization(2, dtype="float16")
    model, mine = chainermn.create_mnbn_model(link, comm), slice(16 * rank, 16 * rank + 16)
    whole, part = link(x).array[mine], core.Variable(x[mine])
    y = model(part)
    assert y.dtype == "float16" == model.avg_mean.dtype
    np.testing.assert_allclose(y.array, whole, rtol=0, atol=4e-3)
    for name in ("avg_mean", "avg_var"):
        np.testing.assert_allclose(getattr(model, name), getattr(link, name), rtol=2e-3)
    F.mean(F.cast(y, "f")).backward()
    assert np.isfinite(part.grad).all() and np.isfinite(model.gamma.grad).all()


def recurrent():
    """Layers over sequences that are divided among ranks give what they give on one."""
    core.seed(0)
    rnn = L.NStepLSTM(1, 3, 4, 0.0)
    steps = np.random.default_rng(9).standard_normal((2, 2 * size, 3)).astype("f")
    _, _, ys = rnn(None, None, list(steps))
    sum(F.sum(y**2) for y in ys).backward()
    expected = [p.grad for _, p in sorted(rnn.namedparams())]
    rnn.cleargrads()
    before, after = rank - 1 if rank else None, rank + 1 if rank < size - 1 else None
    divided = chainermn.create_multi_node_n_step_rnn(rnn, comm, before, after)
    *_, ys, delegate = divided(list(steps[:, 2 * rank : 2 * rank + 2]))
    loss = sum(F.sum(y**2) for y in ys)
    C.pseudo_connect(delegate, loss).backward()
    for (_, p), g in zip(sorted(rnn.namedparams()), expected, strict=True):
        np.testing.assert_allclose(comm.allreduce(p.grad), g, rtol=1e-3, atol=1e-5)


def values_of_others():
    """What ranks give beside the root is not looked at."""
    x, *xs = [core.Variable(np.ones((2, 3))) for _ in range(1 + size)]
    F.sum(C.bcast(comm, x, size - 1)).backward()
    F.sum(C.scatter(comm, xs, size - 1)).backward()
    assert {each.grad is not None for each in (x, *xs)} == {rank == size - 1}


for each in (ring, gathered, exchanged, spread, collected, divided, summed):
    check(each)
chain_list()
batch_normalization()
narrow_batch_normalization()
recurrent()
values_of_others()
# What needs no gradient asks for none.
if size > 1 and rank == 0:
    C.send(np.ones(3, "f"), comm, 1)
elif rank == 1:
    assert not C.recv(comm, 0).requires_grad
comm.barrier()
if rank == 0:
    print(f"differentiated {size}")
