"""A loop without a trainer, links given to the constructor, and files of the model's state."""

import copy
import os
import pickle
import sys

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import Variable, cuda, optimizers, serializers


class Model(chainer.Chain):
    def __init__(self):
        super().__init__(l1=L.Linear(5, 16), l2=L.Linear(16, 3))

    def __call__(self, x):
        return self.l2(F.sigmoid(self.l1(x)))


np.random.seed(0)
x_all = np.random.randn(90, 5).astype(np.float32)
t_all = x_all[:, :3].argmax(axis=1).astype("i")
model = Model()
optimizer = optimizers.MomentumSGD(lr=0.5, momentum=0.9)
optimizer.setup(model)
optimizer.add_hook(chainer.optimizer.GradientClipping(5.0))

for _epoch in range(15):
    perm = np.random.permutation(len(x_all))
    for i in range(0, len(x_all), 30):
        x = Variable(x_all[perm[i : i + 30]])
        t = Variable(t_all[perm[i : i + 30]])
        model.zerograds()
        loss = F.softmax_cross_entropy(model(x), t)
        loss.backward()
        optimizer.update()
    optimizer.new_epoch()

with chainer.using_config("train", False), chainer.no_backprop_mode():
    y = model(x_all)
assert y.creator is None
assert float(F.accuracy(y, t_all).data) > 0.9
assert cuda.to_cpu(y.data).shape == (90, 3) and cuda.get_array_module(y) is np

optimizer.update(lambda x, t: F.softmax_cross_entropy(model(x), t), x_all, t_all)
assert (optimizer.t, optimizer.epoch) == (46, 15)

path = os.path.join(sys.argv[1], "state")
serializers.save_npz(path + ".npz", model)
serializers.save_npz(path + "_optimizer.npz", optimizer)
loaded = Model()
again = optimizers.MomentumSGD().setup(loaded)
serializers.load_npz(path + ".npz", loaded)
serializers.load_npz(path + "_optimizer.npz", again)
assert again.t == 46
part = L.Linear(5, 16)
serializers.load_npz(path + ".npz", part, path="l1/")

others = [loaded, copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.copy()]
for other in others:
    assert np.array_equal(other.l1.W.data, model.l1.W.data)
assert np.array_equal(part.b.data, model.l1.b.data)
model.l1.W.data[...] = 0
assert [bool(other.l1.W.data.any()) for other in others] == [True, True, True, False]

layers = chainer.Sequential(L.Linear(3, 4), lambda x: x * 2, F.relu, L.Linear(4, 3))
assert layers.repeat(2)(x_all[:, :3]).shape == (90, 3)
