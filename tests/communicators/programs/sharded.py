"""Optimizers whose state is divided among the ranks, beside those of which all have all."""

import sys
import warnings
from pathlib import Path
from weakref import ref

import numpy as np

import core
import core.functions as F
import core.links as L
from core import optimizer_hooks, optimizers, serializers
from core.communicators import create_communicator, create_multi_node_optimizer
from core.errors import CommunicatorError, UpdateError

comm = create_communicator("mpi", time_limit=60, bucket_bytes=2000)
out = Path(sys.argv[1])
X = np.random.default_rng(0).standard_normal((4, 24, 8)).astype("f")
T = np.random.default_rng(1).integers(0, 5, (4, 24)).astype("i")


def share(batch):
    return np.array_split(batch, comm.size)[comm.rank]


def trained(make, sharded, steps=4, dtype="f", prepare=None, source=None):
    """Model and optimizer after some steps, of which each rank has begun with other weights."""
    core.seed(comm.rank)
    with core.using_config("dtype", np.dtype(dtype)):
        layers = [L.Linear(8, 24), F.tanh, L.Linear(24, 24), F.tanh, L.Linear(24, 5)]
        model = L.Classifier(core.Sequential(*layers))
    optimizer = create_multi_node_optimizer(make(), comm, shard_state=sharded).setup(model)
    if prepare is not None:
        prepare(optimizer)
    if source is not None:
        serializers.load_npz(source, optimizer)
        serializers.load_npz(f"{source}.model", model)
    for x, t in zip(X[:steps], T[:steps], strict=False):
        optimizer.update(model, share(x).astype(dtype), share(t))
    return model, optimizer


def bits(model):
    return b"".join(p.array.tobytes() for _, p in sorted(model.namedparams()))


def same(name, make, **how):
    """The two give the same bits, on all ranks; what is given back is the sharded one."""
    plain, _ = trained(make, False, **how)
    model, optimizer = trained(make, True, **how)
    assert len({*comm.allgather_obj(bits(model))}) == 1, f"{name}: the ranks differ"
    assert bits(model) == bits(plain), f"{name}: other bits than without shards"
    kept = [p.update_rule.state is not None for p in model.params()]
    masters = [p.update_rule._master is not None for p in model.params()]
    assert sum(comm.allgather_obj(sum(kept))) == 6, f"{name}: {kept}"
    assert sum(comm.allgather_obj(sum(masters))) in (0, 6), f"{name}: {masters}"
    return optimizer


def every_optimizer():
    for name in dir(optimizers):
        each = getattr(optimizers, name)
        if isinstance(each, type) and issubclass(each, core.GradientMethod):
            same(name, lambda each=each: each(), steps=2)


def every_hook():
    def all_of_them(optimizer):
        optimizer.add_hook(optimizer_hooks.GradientClipping(0.3))
        optimizer.add_hook(optimizer_hooks.GradientLARS())
        optimizer.add_hook(optimizer_hooks.GradientNoise(0.01))
        optimizer.add_hook(optimizer_hooks.ExponentialMovingAverage(0.5))
        optimizer.group("*/b").add_hook(optimizer_hooks.GradientNoise(0.1))

    same("hooks", optimizers.Adam, prepare=all_of_them)


def fewer_parameters_than_ranks():
    """A rank whose part is empty is no rank whose model is not trained."""
    model = L.Linear(8, 1, nobias=True)
    optimizer = create_multi_node_optimizer(optimizers.Adam(), comm, shard_state=True).setup(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.update(lambda x: F.sum(model(x)), X[0])

    def scaled(optimizer):
        optimizer.use_fp32_update()
        optimizer.loss_scaling(interval=2)
        optimizer.add_hook(optimizer_hooks.GradientClipping(0.3))

    optimizer = same("masters", optimizers.Adam, dtype="e", prepare=scaled)
    before, scale = bits(optimizer.target), optimizer.loss_scale
    bad = share(X[0]).astype("e") * (np.inf if comm.rank == comm.size - 1 else 1)
    with np.errstate(all="ignore"):
        optimizer.update(optimizer.target, bad, share(T[0]))
    assert bits(optimizer.target) == before
    assert optimizer.loss_scale == scale / 2, "an overflow that one rank has seen"

    _, optimizer = trained(optimizers.SGD, True)
    optimizer.add_hook(lambda opt: None, name="own")
    try:
        optimizer.update(optimizer.target, share(X[0]), share(T[0]))
    except UpdateError as error:
        assert "works_on_parts" in str(error)
    else:
        raise AssertionError("a hook that sees parts was taken")


def memory():
    """A sum of which each rank gets a part lets go of the whole, which is larger, as it ends."""
    buffer = np.ones(9000, "f")
    bounds = [9000 * rank // comm.size for rank in range(comm.size + 1)]
    pending, held = comm.ireduce_scatter(buffer, bounds), ref(buffer)
    del buffer
    pending.wait()
    assert held() is None, "the buffer is still held"
    assert pending.result.tolist() == [comm.size] * len(pending.result)


def files():
    """The same file, which loads on any number of ranks, with shards and without."""
    plain = trained(optimizers.Adam, False, 2)[1]
    optimizer = trained(optimizers.Adam, True, 2)[1]
    mine = out / f"{comm.size}-{comm.rank}"
    serializers.save_npz(mine, optimizer)
    serializers.save_npz(f"{mine}.model", optimizer.target)
    serializers.save_npz(f"{mine}-plain", plain)
    with np.load(mine) as found, np.load(f"{mine}-plain") as expected:
        assert {*found} == {*expected}
        for key in expected:
            assert found[key].tobytes() == expected[key].tobytes(), key
    for source in (mine, *sorted(out.glob("*-0"))):  # those of other numbers of ranks, too
        models = [trained(optimizers.Adam, sharded, 2, source=source)[0] for sharded in (0, 1)]
        assert bits(models[0]) == bits(models[1]), source
    if comm.size > 1:
        try:
            if comm.rank == 0:
                optimizer.serialize(serializers.DictionarySerializer())
            else:
                comm.barrier()
        except CommunicatorError as error:
            assert "saving of an optimizer" in str(error) and "barrier" in str(error), error
        else:
            raise AssertionError("one rank saved alone")


def parts():
    """A file of each rank has the gradients of its parts so far, and the number of examples."""
    found = []
    for resumes in (False, True):
        model, optimizer = trained(optimizers.Adam, False, 1)
        for part in (slice(0, 1 + comm.rank), slice(1 + comm.rank, None)):
            x, t = share(X[1])[part], share(T[1])[part]
            optimizer.accumulate(len(x) / len(share(T[1])), model, x, t)
            if resumes and part.start == 0:
                mine = out / f"parts-{comm.size}-{comm.rank}"
                serializers.save_npz(mine, optimizer)
                serializers.save_npz(f"{mine}.model", model)
                model, optimizer = trained(optimizers.Adam, False, 0, source=mine)
        optimizer.update()
        found.append((bits(model), optimizer.share))
    assert found[0] == found[1], "what was accumulated before"


every_optimizer()
every_hook()
fewer_parameters_than_ranks()
memory()
files()
parts()
comm.barrier()
if comm.rank == 0:
    print(f"divided {comm.size}")
