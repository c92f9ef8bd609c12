"""Captured steps on all ranks have the bits of eager's, with batches of their own lengths."""

import warnings

import numpy as np

import core
import core.functions as F
import core.links as L
from core import optimizer_hooks, optimizers
from core.communicators import (
    MultiNodeBatchNormalization,
    create_communicator,
    create_multi_node_optimizer,
)

warnings.simplefilter("error")
STEPS = 7
comm = create_communicator("mpi", time_limit=60)


class Training:
    """A model of this rank, and ways to make its steps."""

    def __init__(self, hook=None, **how):
        core.seed(comm.rank)
        np.random.seed(comm.rank)
        drop = lambda h: F.dropout(h, 0.3)  # noqa: E731
        self.model = L.Classifier(core.Sequential(L.Linear(8, 16), F.tanh, drop, L.Linear(16, 5)))
        self.optimizer = create_multi_node_optimizer(optimizers.Adam(0.01), comm, **how)
        self.optimizer.setup(self.model)
        if hook is not None:
            self.optimizer.add_hook(hook)

    def whole(self, x, t):
        self.optimizer.update(self.model, x, t)

    def apart(self, x, t):
        loss = self.model(x, t)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()

    def in_parts(self, x, t):
        for half in (slice(None, 1), slice(1, None)):
            share = len(x[half]) / len(x)
            self.optimizer.accumulate(share, self.model, x[half], t[half])
        self.optimizer.update()

    def train(self, step):
        """Parameters, gradients and shares after each step; the length of batches changes."""
        rng = np.random.default_rng(comm.rank)
        found = []
        for i in range(STEPS):
            count = 2 + comm.rank + (i == STEPS - 1)
            step(rng.random((count, 8), "f"), rng.integers(0, 5, count).astype("i"))
            for p in self.model.params():
                found += [p.array.tobytes(), p.grad.tobytes()]
            found += [self.optimizer.t, self.optimizer.share]
        return found


for how in ({}, {"hook": optimizer_hooks.GradientClipping(0.1)}, {"zero_fill": False}):
    for form in ("whole", "apart", "in_parts"):
        eager = Training(**how)
        expected = eager.train(getattr(eager, form))
        captured = Training(**how)
        step = core.capture(getattr(captured, form))
        assert captured.train(step) == expected, (how, form)
        assert (step.replayed, step.reasons) == (STEPS - 1, []), (form, step.report())

for how in ({"double_buffering": True}, {"shard_state": True}):
    refused = Training(**how)
    step = core.capture(refused.whole)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for _ in range(3):
            step(np.ones((2, 8), "f"), np.zeros(2, "i"))
    assert step.replayed == 0
    assert "double_buffering or shard_state" in step.report(), step.report()


def normalized(make):
    """Steps with statistics of all ranks, whose batches have new lengths at different times."""
    core.seed(0)
    layers = [L.Linear(8, 16), MultiNodeBatchNormalization(16, comm), L.Linear(16, 5)]
    model = L.Classifier(core.Sequential(*layers))
    optimizer = create_multi_node_optimizer(optimizers.Adam(0.01), comm).setup(model)
    step = make(lambda x, t: optimizer.update(model, x, t))
    rng = np.random.default_rng(comm.rank)
    for count in (3, 3, 3 + comm.rank, 0 if comm.rank else 2, 3):
        step(rng.random((count, 8), "f"), rng.integers(0, 5, count).astype("i"))
    return b"".join(p.array.tobytes() for p in model.params()), step


with warnings.catch_warnings(record=True):
    warnings.simplefilter("always")
    found, step = normalized(core.capture)
assert found == normalized(lambda step: step)[0]
assert step.replayed == 0 or comm.size == 1
assert comm.size == 1 or "what ranks exchange cannot be recorded" in step.report(), step.report()

if comm.rank == 0:
    print("captured", comm.size)
