"""Writes pickled links with Chainer itself, once: see README.md."""

import collections
import collections.abc
import pickle
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
for name in ("bool", "int", "float", "object"):  # which NumPy had when version 1 was written
    setattr(np, name, getattr(__import__("builtins"), name))
for name in dir(collections.abc):
    setattr(collections, name, getattr(collections.abc, name))

import chainer  # noqa: E402
import chainer.links as L  # noqa: E402


class Net(chainer.Chain):
    def __init__(self):
        parts = {
            "l1": L.Linear(4, 5),
            "norm": L.BatchNormalization(5),
            "lstm": L.LSTM(5, 3),
            "rest": chainer.ChainList(L.Linear(3, 2), L.EmbedID(3, 2)),
        }
        super().__init__(**parts)
        self.add_persistent("note", 7)

    def __call__(self, x):
        return self.rest[0](self.lstm(self.norm(self.l1(x))))


def main(folder, version):
    np.random.seed(0)
    net = Net()
    x = np.sin(np.arange(24, dtype="f")).reshape(6, 4)
    net(x)
    net.lstm.reset_state()
    for protocol in (0, 2):
        with open(f"{folder}/{version}-{protocol}.pickle", "wb") as file:
            pickle.dump(net, file, protocol)
    chainer.serializers.save_npz(f"{folder}/{version}.npz", net)


main(sys.argv[1], chainer.__version__)
