"""Trees, tags and alignments: a Tree-LSTM, a conditional random field, and CTC."""

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import optimizers


class TreeClassifier(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(8, 6)
            self.tree = L.ChildSumTreeLSTM(6, 5)
            self.out = L.Linear(5, 2)

    def state(self, node):
        if isinstance(node, int):
            return self.tree(self.embed(np.array([node], "i")))
        states = [self.state(child) for child in node]
        cells, outputs = zip(*states, strict=True)
        return self.tree(*cells, *outputs, chainer.Variable(np.zeros((1, 6), "f")))

    def __call__(self, trees, labels):
        loss = 0
        for tree, label in zip(trees, labels, strict=True):
            loss += F.softmax_cross_entropy(self.out(self.state(tree)[1]), np.array([label], "i"))
        return loss


class Tagger(chainer.Chain):
    def __init__(self):
        super().__init__(feature=L.EmbedID(8, 3), crf=L.CRF1d(3))

    def sorted(self, xs):
        return sorted(xs, key=len, reverse=True)

    def __call__(self, xs, ys):
        hs = F.transpose_sequence([self.feature(x) for x in self.sorted(xs)])
        return self.crf(hs, F.transpose_sequence(self.sorted(ys)))

    def predict(self, xs):
        hs = F.transpose_sequence([self.feature(x) for x in self.sorted(xs)])
        _, path = self.crf.argmax(hs)
        return [y.data.tolist() for y in F.transpose_sequence(path)]


class Recognizer(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.rnn = L.NStepBiLSTM(1, 3, 8, 0.0)
            self.out = L.Linear(16, 4)

    def __call__(self, xs, ts):
        _, _, hs = self.rnn(None, None, xs)
        ys = F.transpose_sequence([self.out(h) for h in hs])
        lengths = [np.array([len(v) for v in vs], "i") for vs in (xs, ts)]
        return F.connectionist_temporal_classification(ys, F.pad_sequence(ts), 0, *lengths)


def fit(model, args, steps=25):
    optimizer = optimizers.Adam(0.05)
    optimizer.setup(model)
    losses = []
    for _ in range(steps):
        loss = model(*args)
        losses.append(float(loss.data))
        model.cleargrads()
        loss.backward()
        optimizer.update()
    assert losses[-1] < 0.5 * losses[0], losses
    return model


def ids(*rows):
    return [np.array(row, "i") for row in rows]


np.random.seed(0)
fit(TreeClassifier(), ([((1, 2), (3, (4, 5))), (5, (1, 1)), 7], [0, 1, 1]))
xs, ys = ids([1, 2, 3, 4], [4, 5]), ids([0, 1, 2, 0], [0, 2])
assert fit(Tagger(), (xs, ys)).predict(xs) == [y.tolist() for y in ys]
waves = [np.random.randn(n, 3).astype("f") for n in (7, 7)]
fit(Recognizer(), (waves, ids([1, 2, 3], [2, 2])))
