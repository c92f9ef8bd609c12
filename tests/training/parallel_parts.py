"""What worker processes import: a model, its data, and iterators that go wrong."""

import os
import signal
import sys
import time

import numpy as np

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training


class Model(core.Chain):
    """Dropout only where it is asked for: then no two processes make the same batch."""

    def __init__(self, in_size=4, ratio=0.0):
        super().__init__()
        self.ratio, self.weight = ratio, 1.0
        with self.init_scope():
            self.l1 = L.Linear(in_size, 6)
            self.norm = L.BatchNormalization(6) if ratio else None
            self.l2 = L.Linear(None if in_size is None else 6, 3)
            self.scale = core.Parameter(np.ones((), "f"))

    def forward(self, x, t):
        h = F.tanh(self.l1(x))
        if self.ratio:
            h = F.dropout(self.norm(h), self.ratio)
        loss = F.softmax_cross_entropy(self.l2(h), t) * self.weight * self.scale
        core.report({"loss": loss}, self)
        return loss


class Silent(core.Chain):
    """A link that forgets to return its loss."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 3)

    def forward(self, x, t):
        F.softmax_cross_entropy(self.l1(x), t)


class Late(core.Chain):
    """A link that is not used in the first loss, and if `late` in the second."""

    def __init__(self, late):
        super().__init__()
        self.late = late
        self.losses = 0
        with self.init_scope():
            self.l1 = L.Linear(4, 3)
            self.rest = L.Linear(None, 3)

    def forward(self, x, t):
        self.losses += 1
        y = self.l1(x)
        if self.late and self.losses == 3:  # of a copy that was made after the first
            y = y + self.rest(x)
        return F.softmax_cross_entropy(y, t)


def data(length=24):
    draw = np.random.RandomState(7)
    x = draw.randn(length, 4).astype("f")
    return datasets.TupleDataset(x, (x[:, 0] > 0).astype("i") + (x[:, 1] > 0).astype("i"))


def parts(n, length=24, batch_size=4, **options):
    """The i-th example of every batch of n, to the i-th iterator."""
    whole = data(length)
    return [
        iterators.SerialIterator([whole[k] for k in range(i, length, n)], batch_size, **options)
        for i in range(n)
    ]


def multiprocess(n=2, shuffle=False, optimizer=None, **options):
    optimizer = (optimizer or optimizers.Adam(0.01)).setup(Model(**options))
    made = training.updaters.MultiprocessParallelUpdater
    return made(parts(n, shuffle=shuffle), optimizer, devices=["numpy"] * n)


class Failing:
    """A dataset that goes wrong at its third batch, in the way it is told."""

    def __init__(self, how):
        self.how = how
        self.given = 0

    def __len__(self):
        return 8

    def __getitem__(self, index):
        self.given += 1
        if self.given > 8:
            if self.how == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.how == "exit":
                os._exit(3)
            if self.how == "hang":
                time.sleep(600)
            if self.how == "sys.exit":
                sys.exit()
            raise ArithmeticError("no such example")
        return np.ones(4, "f"), np.int32(0)
