"""Convolutions with batch normalization, residual blocks in a ChainList, and a second loss."""

import sys

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import initializers, training
from core.training import extensions


class BottleNeck(chainer.Chain):
    def __init__(self, n_in, n_mid, n_out, stride=1, use_conv=False):
        w = initializers.HeNormal()
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(n_in, n_mid, 1, stride, 0, True, w)
            self.bn1 = L.BatchNormalization(n_mid)
            self.conv2 = L.Convolution2D(n_mid, n_out, 3, 1, 1, nobias=True, initialW=w)
            self.bn2 = L.BatchNormalization(n_out)
            if use_conv:
                self.conv3 = L.Convolution2D(n_in, n_out, 1, stride, 0, True, w)
                self.bn3 = L.BatchNormalization(n_out)
        self.use_conv = use_conv

    def __call__(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.bn2(self.conv2(h))
        return F.relu(h + (self.bn3(self.conv3(x)) if self.use_conv else x))


class Block(chainer.ChainList):
    def __init__(self, layer, n_in, n_mid, n_out, stride=2):
        super().__init__()
        self.add_link(BottleNeck(n_in, n_mid, n_out, stride, True))
        for _ in range(layer - 1):
            self.add_link(BottleNeck(n_out, n_mid, n_out))

    def __call__(self, x):
        for f in self.children():
            x = f(x)
        return x


class Net(chainer.Chain):
    def __init__(self, n_class):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(None, 8, 3, pad=1)
            self.bn = L.BatchNormalization(8)
            self.res = Block(2, 8, 4, 12)
            self.aux = L.Linear(None, n_class)
            self.out = L.Linear(None, n_class)

    def __call__(self, x, t):
        h = F.max_pooling_2d(F.relu(self.bn(self.conv(x))), ksize=2, stride=2)
        loss_aux = F.softmax_cross_entropy(self.aux(F.average_pooling_2d(h, 2)), t)
        h = self.res(h)
        y = self.out(F.average_pooling_2d(h, h.data.shape[2:]))
        loss = F.softmax_cross_entropy(y, t) + 0.3 * loss_aux
        values = {"loss": loss, "aux": loss_aux, "accuracy": F.accuracy(y, t)}
        chainer.report(values, self)
        return loss


np.random.seed(0)
images = np.random.rand(96, 3, 12, 12).astype("f")
labels = (np.arange(96) % 2).astype("i")
images[labels == 1, 0] += 0.5
data = chainer.datasets.TupleDataset(images, labels)
model = Net(2)
optimizer = chainer.optimizers.MomentumSGD(0.05).setup(model)
optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(5e-4))
updater = training.updaters.StandardUpdater(chainer.iterators.SerialIterator(data, 16), optimizer)
trainer = training.Trainer(updater, (8, "epoch"), out=sys.argv[1])
test = chainer.iterators.SerialIterator(data, 16, repeat=False, shuffle=False)
trainer.extend(extensions.Evaluator(test, model))
trainer.extend(extensions.ExponentialShift("lr", 0.5), trigger=(4, "epoch"))
trainer.extend(extensions.LogReport(trigger=(1, "epoch")))
trainer.run()

entry = trainer.get_extension("LogReport").log[-1]
assert entry["validation/main/accuracy"] > 0.9 and "validation/main/aux" in entry
assert len(model.res) == 2 and "/res/1/bn2/gamma" in dict(model.namedparams())
assert model.bn.N == 0 and model.bn.avg_mean.any() and optimizer.lr == 0.05 * 0.5**2
