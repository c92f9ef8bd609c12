"""Steps of an optimizer on all ranks, beside those of one process with the whole batches."""

from types import SimpleNamespace

import numpy as np

import core
import core.functions as F
import core.links as L
from core import optimizer_hooks, optimizers
from core.communicators import (
    PartitionedIterator,
    create_communicator,
    create_mnbn_model,
    create_multi_node_optimizer,
)
from core.errors import CommunicatorError, UpdateError
from core.serializers import DictionarySerializer, NpzDeserializer
from core.training import extensions, updaters

TOLERANCE = 5e-5  # after STEPS steps of Adam in float32; see docs/communicators.md
STEPS, EXAMPLES = 5, 24
comm = create_communicator("mpi", time_limit=60)
generator = np.random.default_rng(0)
X = generator.standard_normal((STEPS, EXAMPLES, 8)).astype("f")
T = generator.integers(0, 5, (STEPS, EXAMPLES)).astype("i")


def network(seed, drop=0.0):
    core.seed(seed)
    layers = [L.Linear(None, 16), F.tanh, L.Linear(16, 16), F.relu]
    return L.Classifier(core.Sequential(*layers, lambda h: F.dropout(h, drop), L.Linear(16, 5)))


def alike(model, other=None, atol=0.0):
    """The same bits on all ranks; and near those of another model."""
    mine = [(path, p.array) for path, p in sorted(model.namedparams())]
    everywhere = comm.allgather_obj(b"".join(array.tobytes() for _, array in mine))
    assert len({*everywhere}) == 1, "the ranks have different parameters"
    for (path, array), (_, p) in zip(
        mine, sorted(other.namedparams()) if other else [], strict=False
    ):
        np.testing.assert_allclose(array, p.array, rtol=0, atol=atol, err_msg=path)
    return everywhere[0]


def train(part, distributed=True, hook=None, seed=None, scale=False, accumulate=1, drop=0.0, **how):
    """Train on what `part` takes of each batch; each rank begins with weights of its own."""
    model = network(comm.rank if seed is None else seed, drop)
    optimizer = optimizers.Adam(0.01)
    if distributed:
        optimizer = create_multi_node_optimizer(optimizer, comm, **how)
    optimizer.setup(model)
    if hook is not None:
        optimizer.add_hook(hook)
    if scale:
        optimizer.loss_scaling(interval=2)
    for x, t in zip(X, T, strict=True):
        x, t = part(x), part(t)
        if accumulate == 1:
            optimizer.update(model, x, t)
            continue
        for i in range(accumulate):
            parts = [np.array_split(each, accumulate)[i] for each in (x, t)]
            optimizer.accumulate(len(parts[0]) / max(len(x), 1), model, *parts)
        optimizer.update()
    return model, optimizer


def normalized(part, distributed, **how):
    """Train with statistics of the batches of all ranks."""
    core.seed(0)
    layers = [L.Linear(8, 16), L.BatchNormalization(16), F.relu, L.Linear(16, 5)]
    model = L.Classifier(core.Sequential(*layers))
    optimizer = optimizers.MomentumSGD(0.1)
    if distributed:
        model = create_mnbn_model(model, comm)
        optimizer = create_multi_node_optimizer(optimizer, comm, **how)
    optimizer.setup(model)
    for x, t in zip(X, T, strict=True):
        optimizer.update(model, part(x), part(t))
    return model


def noisy(resumed):
    """Steps with noise where nothing was seeded, which may go on with another optimizer's state."""
    model = network(0)
    core.seed(None)
    np.random.seed(comm.rank)
    optimizer = None
    for i, (x, t) in enumerate(zip(X, T, strict=True)):
        if optimizer is None or (resumed and i == 2):
            saved = optimizer and dict_of(optimizer)
            optimizer = create_multi_node_optimizer(optimizers.SGD(0.1), comm).setup(model)
            optimizer.add_hook(optimizer_hooks.GradientNoise(0.1))
            if saved is not None:
                NpzDeserializer(saved).load(optimizer)
        optimizer.update(model, equal(x), equal(t))
        np.random.rand()  # as other parts of a program do
    return model


def dict_of(thing):
    serializer = DictionarySerializer()
    serializer.save(thing)
    return serializer.target


def equal(batch):
    return np.array_split(batch, comm.size)[comm.rank]


def uneven(batch):
    """More for later ranks; where there are several, none for the first."""
    cuts = (np.linspace(0, 1, comm.size) ** 2 * EXAMPLES).astype(int)
    cuts = [0, *cuts] if comm.size > 1 else [0, EXAMPLES]
    return batch[cuts[comm.rank] : cuts[comm.rank + 1]]


def whole(batch):
    return batch


def main():
    # What one process gets from the whole batches.
    alone, _ = train(whole, distributed=False, seed=0)
    first = alike(train(equal)[0], alone, TOLERANCE)
    assert alike(train(equal)[0]) == first, "another run gives other bits"
    alike(train(uneven)[0], alone, TOLERANCE)
    alike(train(equal, accumulate=2)[0], alone, TOLERANCE)
    alike(train(uneven, accumulate=5)[0], alone, TOLERANCE)  # in parts of which some are empty

    # So does an updater, where the last batch has examples for some ranks alone.
    count = 2 * comm.size + 1
    for accumulate, cuts in ((1, [count - 1]), (2, [])):
        expected, optimizer = network(0), optimizers.SGD(0.1)
        optimizer.setup(expected)
        for x, t in zip(*[np.split(each[0][:count], cuts) for each in (X, T)], strict=True):
            optimizer.update(expected, x, t)
        model = network(0)
        optimizer = create_multi_node_optimizer(optimizers.SGD(0.1), comm).setup(model)
        examples = [*zip(X[0][:count], T[0][:count], strict=True)]
        batches = PartitionedIterator(examples, count - 1, comm, repeat=False, shuffle=False)
        updater = updaters.StandardUpdater(batches, optimizer, accumulate=accumulate)
        for _ in range(1 + len(cuts)):
            updater.update()
        alike(model, expected, TOLERANCE)

    # Many small buffers and few large ones give what one gives, up to rounding.
    comm.set_config("bucket_bytes", 100)
    alike(train(equal)[0], alone, TOLERANCE)
    comm.set_config("bucket_bytes", 1 << 23)

    # Statistics over all ranks need no examples on each of them.
    expected = normalized(whole, distributed=False)
    for most in (100, 1 << 23):
        comm.set_config("bucket_bytes", most)
        for how in ({}, {"shard_state": True}):
            found = normalized(uneven, distributed=True, **how)
            alike(found, expected, TOLERANCE)
            for name in ("avg_mean", "avg_var"):
                one, other = (getattr(each.predictor[1], name) for each in (found, expected))
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6, err_msg=name)

    # What looks at all gradients sees those of the global batch.
    clipped = optimizer_hooks.GradientClipping(0.05)
    alone_clipped, _ = train(whole, distributed=False, seed=0, hook=clipped)
    alike(train(uneven, hook=clipped)[0], alone_clipped, TOLERANCE)
    alike(train(equal, hook=optimizer_hooks.GradientNoise(0.1))[0])
    alike(train(equal, drop=0.5)[0])
    assert alike(noisy(False)) == alike(noisy(True)), "noise is another one after a resume"

    # An overflow on one rank is one on all.
    model, optimizer = train(equal, scale=True)
    alike(model, alone, TOLERANCE)
    before, scale = alike(model), optimizer.loss_scale
    bad = X[0] * (np.inf if comm.rank == comm.size - 1 else 1)
    with np.errstate(invalid="ignore"):
        optimizer.update(model, bad, T[0])
    assert alike(model) == before, "a step with NaN was made"
    assert optimizer.loss_scale == scale / 2

    # So is NaN on one rank without a loss scale: all know it in the same step, and stop.
    for how in ({}, {"shard_state": True}, {"bucket_bytes": 100}):
        comm.set_config("bucket_bytes", how.pop("bucket_bytes", 1 << 23))
        model, optimizer = train(equal, **how)
        assert not optimizer.check_nan_in_grads()
        bad = X[0] * (np.nan if comm.rank == comm.size - 1 else 1)
        optimizer.update(model, equal(bad), equal(T[0]))
        assert optimizer.check_nan_in_grads(), "NaN on the last rank alone is not seen here"
        updater = SimpleNamespace(iteration=optimizer.t)
        updater.get_all_optimizers = {"main": optimizer}.copy
        try:
            extensions.FailOnNonNumber()(SimpleNamespace(updater=updater))
        except RuntimeError as error:
            assert "NaN" in str(error), error
        else:
            raise AssertionError("a rank goes on with NaN")
    comm.set_config("bucket_bytes", 1 << 23)

    # Narrow exchange.
    for dtype in ("float16", "bfloat16"):
        comm.set_config("allreduce_grad_dtype", dtype)
        alike(train(equal)[0], alone, 0.05)
    comm.set_config("allreduce_grad_dtype", None)

    # The step before: n + 1 updates make n steps.
    _, late = train(equal, double_buffering=True)
    assert late.t == STEPS - 1 and late.actual_optimizer.t == late.t
    alike(late.target)

    # A scale that changes meanwhile is none of what comes of it.
    _, scaled = train(equal, double_buffering=True, scale=True)
    assert scaled.loss_scale > 1
    alike(scaled.target, late.target, TOLERANCE)

    # Masks differ, weights do not.
    model, _ = train(equal, seed=0)
    masks = comm.allgather_obj(F.dropout(np.ones(64, "f"), 0.5).array.tobytes())
    assert len({*masks}) == comm.size, "ranks draw the same masks"

    # Sums begin before the backward pass is over, one for each buffer.
    comm.set_config("bucket_bytes", 1000)
    model, optimizer = train(equal)
    begun, plain = [], comm.isum
    comm.isum = lambda buffer, weight: begun.append(buffer.nbytes) or plain(buffer, weight)
    early = []
    optimizer._sums[-1].pack_rest, rest = (
        lambda *how, **more: early.append(len(begun)) or rest(*how, **more),
        optimizer._sums[-1].pack_rest,
    )
    optimizer.update(model, equal(X[0]), equal(T[0]))
    assert early[0] >= 2, f"{early} of {len(begun)} sums began during the backward pass"
    assert len(begun) == len(optimizer._sums[-1].buckets) < 5
    comm.isum = plain

    # Where gradients are missing, and where there is nothing to step by.
    model, optimizer = train(equal, zero_fill=False)
    if comm.size > 1:
        model.cleargrads()
        if comm.rank == 0:
            model.predictor[0].b.grad = np.ones(16, "f")
        try:
            optimizer.update()
        except CommunicatorError as error:
            assert f"on 1 of {comm.size} ranks" in str(error)
        else:
            raise AssertionError("a gradient on one rank alone was taken")
    try:
        optimizer.update(model, X[0, :0], T[0, :0])
    except UpdateError as error:
        assert "all ranks are empty" in str(error)
    else:
        raise AssertionError("a step was made of nothing")
    if comm.size > 1:
        try:
            if comm.rank == 0:
                optimizer.update()  # with gradients of the last step
            else:
                optimizer.accumulate(1, model, X[0], T[0])
                optimizer.update()
        except UpdateError as error:
            assert "rank 0 gives neither a loss nor parts, and rank 1 does" in str(error), error
        else:
            raise AssertionError("old gradients count among those of examples")
    comm.barrier()
    if comm.rank == 0:
        print(f"stepped {comm.size}")


main()
