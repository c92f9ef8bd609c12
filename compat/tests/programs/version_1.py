"""A classifier as written for Chainer 1: flags in calls, an own loop, Variables."""

import argparse

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import cuda, optimizers, serializers


class ConvNet(chainer.Chain):
    def __init__(self, n_out):
        super().__init__(
            conv1=L.Convolution2D(1, 4, 5, stride=2, pad=2, wscale=0.5, use_cudnn=False),
            bn1=L.BatchNormalization(4),
            fc=L.Linear(4 * 14 * 14, 16, bias=0.1),
            out=L.Linear(16, n_out),
        )
        self.train = True

    def __call__(self, x):
        h = F.relu(self.bn1(self.conv1(x), test=not self.train), use_cudnn=False)
        h = F.dropout(F.relu(self.fc(h)), ratio=0.2, train=self.train)
        return self.out(h)

    def copy_for_test(self):
        model = self.copy()
        model.train = False
        return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", "-g", default=-1, type=int)
    parser.add_argument("--epoch", "-e", default=1, type=int)
    parser.add_argument("--out", "-o", default="result")
    args = parser.parse_args()

    train, test = chainer.datasets.get_mnist(ndim=3)
    x_train = np.asarray([x for x, _ in train])
    t_train = np.asarray([t for _, t in train])
    x_test = np.asarray([x for x, _ in test])
    t_test = np.asarray([t for _, t in test])

    model = ConvNet(10)
    if args.gpu >= 0:
        cuda.get_device(args.gpu).use()
        model.to_gpu()
    xp = np if args.gpu < 0 else cuda.cupy

    optimizer = optimizers.Adam()
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer.WeightDecay(1e-4))
    batchsize = 20
    for epoch in range(1, args.epoch + 1):
        order = np.random.permutation(len(x_train))
        for i in range(0, len(x_train), batchsize):
            x = chainer.Variable(xp.asarray(x_train[order[i : i + batchsize]]))
            t = chainer.Variable(xp.asarray(t_train[order[i : i + batchsize]]))
            model.zerograds()
            loss = F.softmax_cross_entropy(model(x), t)
            loss.backward()
            optimizer.update()
        optimizer.new_epoch()

        tester = model.copy_for_test()
        sum_accuracy = 0
        for i in range(0, len(x_test), batchsize):
            x = chainer.Variable(xp.asarray(x_test[i : i + batchsize]), volatile="on")
            t = chainer.Variable(xp.asarray(t_test[i : i + batchsize]), volatile="on")
            y = tester(x)
            assert y.creator is None
            sum_accuracy += float(F.accuracy(y, t).data) * len(t.data)
        print("epoch", epoch, "accuracy", sum_accuracy / len(x_test))

    serializers.save_npz(args.out + "/mlp.model", model)
    serializers.save_npz(args.out + "/mlp.state", optimizer)


if __name__ == "__main__":
    main()
