"""Write a pickle by the real Chainer: python make.py FILE, with that Chainer on the path.

Versions 1 to 5 ask Python and NumPy for names that are gone; they are given back here.
"""

import collections.abc
import inspect
import lzma
import pickle
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
for name in collections.abc.__all__:
    setattr(collections, name, getattr(collections.abc, name))
for kind in (bool, float, int, object):
    setattr(np, kind.__name__, kind)
inspect.getargspec = lambda function: inspect.getfullargspec(function)[:4]

import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import chainer.links as L  # noqa: E402
from pickled_models import Net  # noqa: E402

PROTOCOL = 2 if chainer.__version__ < "2" else 3  # that of Python 2, and of 3
np.random.seed(0)


def array(*shape):
    return np.random.randn(*shape).astype("f")


def training():
    """An optimizer after two steps, the inputs, and the losses of the next two."""
    model = Net()
    optimizer = chainer.optimizers.Adam(alpha=0.01)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer.WeightDecay(0.1))
    x, words = array(2, 2, 4, 4), np.array([1, -1], "i")
    losses = []
    for i in range(4):
        if i == 2:
            model.recurrent.reset_state()
            saved = pickle.dumps(optimizer, PROTOCOL)
        loss = F.sum(model(chainer.Variable(x), chainer.Variable(words)) ** 2)
        losses.append(float(loss.data))
        model.cleargrads()
        loss.backward()
        optimizer.update()
    return saved, x, words, losses[2:]


def links():
    """Links whose instances differ from plugrad's, each with inputs and what it gives."""
    image, row = array(1, 2, 4, 4), array(2, 3)
    made = {
        "convolution": (lambda: L.ConvolutionND(2, 2, 2, 2), [image]),
        "groups": (lambda: L.Convolution2D(2, 2, 3, pad=1, groups=2), [image]),
        "deconvolution": (lambda: L.Deconvolution2D(2, 1, 2, stride=2), [image]),
        "depthwise": (lambda: L.DepthwiseConvolution2D(2, 1, 2), [image]),
        "unshared": (lambda: L.LocalConvolution2D(2, 1, (4, 4), 3), [image]),
        "statistics": (lambda: L.BatchNormalization(3), [row]),
        "gates": (lambda: L.StatelessMGU(3, 2), [row[:, :2], row]),
        "words": (
            lambda: L.BinaryHierarchicalSoftmax(3, ((0, 1), 2)),
            [row, np.array([2, 0], "i")],
        ),
        "classifier": (lambda: L.Classifier(L.Linear(3, 2)), [row, np.array([1, 0], "i")]),
        "layers": (lambda: chainer.Sequential(L.Linear(3, 3), F.relu, *twice()), [row]),
        "sequences": (lambda: L.NStepLSTM(1, 3, 2, 0.0), None),
        "refused": (lambda: L.DeformableConvolution2D(2, 1, 3), None),
    }
    found = {}
    for name, (make, inputs) in made.items():
        try:
            link = make()
        except (AttributeError, TypeError):  # which this version has not
            continue
        y = None if inputs is None else link(*map(chainer.Variable, inputs)).data
        if name == "classifier":
            link.y = link.loss = link.accuracy = None
        found[name] = (pickle.dumps(link, PROTOCOL), inputs, y)
    return found


def bounded():
    """AdaBound after a step, and the weights after another one at half the rate."""
    if not hasattr(chainer.optimizers, "AdaBound"):
        return None
    link = L.Linear(3, 2)
    optimizer = chainer.optimizers.AdaBound()
    optimizer.setup(link)
    optimizer.update(lambda: F.sum(link(np.ones((1, 3), "f")) ** 2))
    saved = pickle.dumps(optimizer, PROTOCOL)
    optimizer.alpha *= 0.5
    optimizer.update(lambda: F.sum(link(np.ones((1, 3), "f")) ** 2))
    return saved, link.W.array


def twice():
    return L.Linear(3, 3), L.Linear(3, 3)


with lzma.open(sys.argv[1], "wb") as file:
    pickle.dump((training(), links(), bounded()), file, PROTOCOL)
