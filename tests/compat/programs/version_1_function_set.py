"""A classifier as written for the first version: a set of functions, an own loop."""

import sys

import chainer.functions as F
import numpy as np
from chainer import FunctionSet, Variable, optimizers

rng = np.random.RandomState(1)
x_all = rng.rand(60, 12).astype(np.float32)
y_all = (np.arange(60) % 4).astype(np.int32)
x_all[np.arange(60), y_all] += 2
x_train, x_test = np.split(x_all, [48])
y_train, y_test = np.split(y_all, [48])

model = FunctionSet(
    l1=F.Linear(12, 10, wscale=0.7),
    l2=F.Linear(10, 10, bias=0.1),
    l3=F.Linear(10, 4),
)
optimizer = optimizers.MomentumSGD(lr=0.1)
optimizer.setup(model.collect_parameters())


def forward(x_data, y_data):
    x, t = Variable(x_data), Variable(y_data, volatile=False)
    h1 = F.relu(model.l1(x), use_cudnn=False)
    h2 = F.tanh(model.l2(h1), use_cudnn=False)
    y = model.l3(h2)
    return F.softmax_cross_entropy(y, t, use_cudnn=False), F.accuracy(y, t)


batchsize = 12
losses = []
for _ in range(4):
    indexes = np.random.permutation(48)
    for i in range(0, 48, batchsize):
        optimizer.zero_grads()
        loss, accuracy = forward(
            x_train[indexes[i : i + batchsize]], y_train[indexes[i : i + batchsize]]
        )
        loss.backward()
        optimizer.update()
        losses.append(float(loss.data))

loss, accuracy = forward(x_test, y_test)
np.savez(
    sys.argv[1] + "/result.npz",
    losses=losses,
    accuracy=accuracy.data,
    W1=model.l1.W.data,
    b2=model.l2.b.data,
)
