"""Writes the files of this folder with Chainer itself, once: see README.md."""

import os
import sys
import tempfile

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import serializers, training
from chainer.training import extensions


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 5, nobias=True)
            self.norm = L.BatchNormalization(5)
            self.l2 = L.Linear(None, 3)
            self.unused = L.Linear(None, 2)
        self.add_persistent("note", 7)

    def __call__(self, x, t):
        loss = F.softmax_cross_entropy(self.l2(F.tanh(self.norm(self.l1(x)))), t)
        chainer.report({"loss": loss}, self)
        return loss


def examples():
    """Thirty-two examples, the same wherever they are made."""
    x = np.sin(np.arange(128, dtype="f") * 1.7).reshape(32, 4)
    return x, (np.arange(32) % 3).astype("i")


def main(folder):
    np.random.seed(0)
    net = Net()
    optimizer = chainer.optimizers.Adam(alpha=0.02)
    optimizer.setup(net)
    x, t = examples()
    data = chainer.datasets.TupleDataset(x, t)
    iterator = chainer.iterators.SerialIterator(data, 8, shuffle=False)
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (6, "iteration"), tempfile.mkdtemp())
    trainer.extend(extensions.LogReport(trigger=(2, "iteration")))

    def save(trainer):
        if trainer.updater.iteration != 3:
            return
        for ending, write in (("npz", serializers.save_npz), ("h5", serializers.save_hdf5)):
            write(os.path.join(folder, f"model.{ending}"), net)
            write(os.path.join(folder, f"optimizer.{ending}"), optimizer)
        serializers.save_npz(os.path.join(folder, "stored.npz"), net, compression=False)
        serializers.save_npz(os.path.join(folder, "snapshot.npz"), trainer)

    trainer.extend(save, trigger=(1, "iteration"), priority=-200)
    trainer.run()
    serializers.save_npz(os.path.join(folder, "ended.npz"), net)


if __name__ == "__main__":
    main(sys.argv[1])
