"""Faults, each of which has to end all ranks with an error."""

import os
import pickle
import re
import signal
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import numpy as np

import core
from core.communicators import create_communicator
from core.errors import CommunicatorError
from plugins.communicators import watcher
from plugins.communicators.global_except_hook import end_all

comm = create_communicator("mpi", time_limit=3)
what = sys.argv[1]


def trained(rate=0.1, prepare=lambda optimizer: None):
    """A step whose settings differ by rank."""
    optimizer = core.communicators.create_multi_node_optimizer(core.optimizers.SGD(rate), comm)
    model = core.links.Classifier(core.links.Linear(2, 2))
    prepare(optimizer.setup(model))
    optimizer.update(model, np.ones((1, 2), "f"), np.zeros(1, "i"))


def mean_by_settings_of_its_own(name, value):
    """Gradients that travel in other buffers on one of the ranks."""
    model, before = core.links.Linear(2, 3), comm.get_config(name)
    model.W.grad, model.b.grad = np.ones((3, 2), "f"), np.ones(3, "f")
    comm.set_config(name, value if comm.rank else before)
    try:
        comm.multi_node_mean_grad(model)
    finally:
        comm.set_config(name, before)


def of_other_calls():
    """Shapes, calls and roots that differ are an error on every rank, after which all go on."""
    x = np.ones(2, "f")
    for name, call in {
        "shape": lambda: comm.allreduce(np.ones(2 + comm.rank)),
        "dtype": lambda: comm.allreduce(x.astype("fd"[comm.rank > 0])),
        "count": lambda: comm.allreduce((x,) * (1 + comm.rank)),
        "call": lambda: comm.barrier() if comm.rank else comm.bcast(x),
        "root": lambda: comm.bcast(x, comm.rank),
        "optimizer": lambda: trained(0.1 + comm.rank),
        "group": lambda: trained(prepare=lambda each: each.group("*/b", lr=0.1 + comm.rank)),
        "scale": lambda: trained(prepare=lambda each: each.set_loss_scale(1 + comm.rank)),
        "frozen": lambda: trained(prepare=lambda each: comm.rank or each.target.disable_update()),
        "model": lambda: comm.bcast_data(core.links.Linear(2 + comm.rank, 3)),
        "setting": lambda: mean_by_settings_of_its_own("allreduce_grad_dtype", "float16"),
        "buffers": lambda: mean_by_settings_of_its_own("bucket_bytes", 4),
    }.items():
        try:
            call()
        except CommunicatorError as error:
            assert "rank 0" in str(error) and "rank 1" in str(error), error
            assert name == "call" or name == "root" or " has " in str(error), error
        else:
            raise AssertionError(name)
    from plugins.communicators import creation

    installed = creation._installed
    creation._installed = lambda: [*installed()[:-1], f"plugrad-own {comm.rank}.0"]
    try:
        create_communicator("mpi")
    except CommunicatorError as error:
        assert "plugrad-own 0.0" in str(error) and "plugrad-own 1.0" in str(error), error
    else:
        raise AssertionError("versions")
    optimizer = core.communicators.create_multi_node_optimizer
    for call in (
        lambda: comm.allreduce(None),
        lambda: comm.allreduce((np.ones(1), None)),
        lambda: comm.bcast_data(None),
        lambda: core.communicators.functions.bcast(comm, None, comm.rank),
        lambda: optimizer(None, comm),
        lambda: optimizer(core.optimizers.SGD(), None),
        lambda: core.communicators.multi_node_snapshot(comm, None),
        lambda: core.communicators.scatter_dataset(3, comm),
        lambda: core.communicators.scatter_dataset([], comm),
        lambda: comm.send(x, 1 - comm.rank, -1),
        lambda: comm.recv(1 - comm.rank, 1 << 40),
        lambda: comm.split("even", 0),
        lambda: comm.split(-1, 0),
        lambda: comm.split(0, 1 << 40),
        lambda: create_communicator("mpi", comm),
        lambda: create_communicator("mpi", time_limit=0),
    ):
        try:
            call()
        except (CommunicatorError, TypeError) as error:
            assert ": expected " in str(error), error
        else:
            raise AssertionError("what is no array, model or optimizer was taken")

    for own in (
        lambda rule: setattr(rule.hyperparam, "lr", 0.25 * (1 + comm.rank)),
        lambda rule: rule.add_hook(core.optimizer_hooks.WeightDecay(0.25 * (1 + comm.rank))),
    ):
        made = optimizer(core.optimizers.SGD(), comm).setup(core.links.Linear(1, 1))
        zero = np.zeros(1, "i")
        own(made.target.W.update_rule)
        try:
            made.update(core.links.Classifier(made.target), np.ones((1, 1), "f"), zero)
        except CommunicatorError as error:
            assert re.search("rank 0 has /W, .*0.25.* and rank 1 has /W, .*0.5", str(error)), error
        else:
            raise AssertionError("parameters would have gone apart")

    def gather():
        try:
            comm.gather_obj(lambda: None)  # which cannot be pickled, as the others have to
        except (AttributeError, pickle.PicklingError):
            comm.barrier()

    try:
        gather()
    except CommunicatorError as error:
        assert "'gather to rank 0' and rank 1 at 'barrier'" in str(error), error
    else:
        raise AssertionError("what cannot be pickled was gathered")
    part = comm.split(0, 0)
    part.finalize()
    for call in (part.barrier, lambda: part.allreduce(x), lambda: part.send(x, 1 - part.rank)):
        try:
            call()
        except CommunicatorError as error:
            assert "released by `finalize`" in str(error), error
        else:
            raise AssertionError("what is released was used")
    if comm.rank == 0:
        comm.send_obj({"no": "array"}, 1)
    else:
        try:
            comm.recv(0)
        except CommunicatorError as error:
            assert "expected rank 0 to send an array" in str(error), error
        else:
            raise AssertionError("what is no array was received as one")
    comm.barrier()
    if comm.rank == 0:
        print("all are refused")


def waits():
    """Wait for a message of a rank that does something else."""
    if comm.rank == 0:
        comm.recv(1)
    time.sleep(60)


def raises():
    if comm.rank == 1:
        raise ValueError("a slip")
    comm.barrier()


def is_not_heard():
    """Ask for the end of a job whose launcher does not end it, while the other ranks compute."""
    if comm.rank == 1:
        end_all(SimpleNamespace(Abort=lambda code: None), "nobody hears a slip")
    time.sleep(60)


def ends():
    if comm.rank == 0:
        comm.allreduce(np.ones(3))


def makes_fewer_steps():
    """Ranks whose iterators end at different times, in a loop of one's own."""
    optimizer = core.communicators.create_multi_node_optimizer(core.optimizers.SGD(0.1), comm)
    model = optimizer.setup(core.links.Classifier(core.links.Linear(2, 2))).target
    for _ in range(3 - comm.rank):
        optimizer.update(model, np.ones((1, 2), "f"), np.zeros(1, "i"))


def skips_a_batch():
    """Go on after an error in the loss, which the other ranks know nothing of."""
    comm.time_limit = 60
    optimizer = core.communicators.create_multi_node_optimizer(core.optimizers.SGD(0.1), comm)
    model = optimizer.setup(core.links.Classifier(core.links.Linear(2, 2))).target

    def loss(x, t):
        if comm.rank == 1 and optimizer.t == 2:
            raise ValueError("a bad batch")
        return model(x, t)

    for _ in range(4):
        with suppress(ValueError):
            optimizer.update(loss, np.ones((1, 2), "f"), np.zeros(1, "i"))


def has_a_rate_of_its_own():
    """A schedule on one rank, by which the parameters would go apart."""
    optimizer = core.communicators.create_multi_node_optimizer(core.optimizers.SGD(0.5), comm)
    model = optimizer.setup(core.links.Classifier(core.links.Linear(2, 2))).target
    for _ in range(3):
        optimizer.update(model, np.ones((1, 2), "f"), np.zeros(1, "i"))
        if comm.rank == 1:
            optimizer.lr *= 0.5


def has_a_rate_of_its_own_among_many():
    """The same for one of several groups, which are more than a note has room for."""
    optimizer = core.communicators.create_multi_node_optimizer(core.optimizers.AdamW(), comm)
    layers = [core.links.Linear(2, 2) for _ in range(5)]
    model = optimizer.setup(core.links.Classifier(core.Sequential(*layers))).target
    groups = [optimizer.group(f"/predictor/{i}/*", eps=1e-7) for i in range(5)]
    for _ in range(3):
        optimizer.update(model, np.ones((1, 2), "f"), np.zeros(1, "i"))
        if comm.rank == 1:
            groups[-1].alpha = 0.25


def has_a_decay_of_its_own():
    """The same for a hook."""
    optimizer = core.communicators.create_multi_node_optimizer(core.optimizers.SGD(0.5), comm)
    model = optimizer.setup(core.links.Classifier(core.links.Linear(2, 2))).target
    optimizer.add_hook(core.optimizer_hooks.WeightDecay(0.5 - 0.25 * comm.rank))
    optimizer.update(model, np.ones((1, 2), "f"), np.zeros(1, "i"))


def never_goes_back():
    """Send what another rank makes no use of."""
    comm.time_limit = 60
    if comm.rank == 0:
        x = core.Variable(np.ones(2, "f"))
        core.communicators.functions.send(x * 2, comm, 1).backward()
    else:
        core.communicators.functions.recv(comm, 0)


def goes_on_without_going_back():
    """The same, where what was received is still there, and the next of it is waited for."""
    comm.time_limit = 60
    for _ in range(2):
        if comm.rank == 0:
            x = core.Variable(np.ones(2, "f"))
            core.communicators.functions.send(x * 2, comm, 1).backward()
        else:
            received = core.communicators.functions.recv(comm, 0)
            assert received.requires_grad


def does_not_receive():
    """Send more than MPI takes before it is received, to a rank that goes on to a sum."""
    comm.time_limit = 60
    if comm.rank == 0:
        comm.send(np.ones(1 << 20), 1)
    comm.allreduce(np.ones(1))


def receives_with_another_tag():
    comm.time_limit = 60
    if comm.rank == 0:
        comm.send(np.ones(1 << 20), 1, tag=2)
    else:
        comm.recv(0, tag=3)


def leaves_without_receiving():
    """Where each has gone on because the other sends, too."""
    comm.send(np.ones(1 << 20), 1 - comm.rank)


def takes_its_time():
    """Long waits that come to an end are no fault, whatever is told meanwhile."""
    comm.time_limit = 60
    if comm.rank == 0:
        assert comm.recv_obj(1) == 1
        assert comm.recv_obj(1, 5) == 2
        time.sleep(1.5)
        comm.send_obj(3, 1)
    else:
        time.sleep(1.5)
        comm.send_obj(1, 0)
        time.sleep(1.5)
        comm.send_obj(2, 0, 5)
        assert comm.recv_obj(0) == 3
    if comm.rank == 0:
        comm.send(np.ones(1 << 20), 1)
    else:
        time.sleep(1.5)
        comm.recv(0)
    time.sleep(1.5 * comm.rank)
    comm.barrier()
    raise ValueError("came to the end")


def dies():
    comm.barrier()
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if comm.rank == 0:
        comm.iallreduce(np.ones(10, "f")).wait()
    comm.barrier()


if __name__ == "__main__":
    if comm.rank == 0:
        print("shares:", *watcher._shared_by(str(os.getpid()).encode()), flush=True)
    globals()[what]()
