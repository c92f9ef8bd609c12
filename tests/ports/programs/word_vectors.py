"""Word vectors with three losses; batches that an iterator makes, already as arrays."""

import collections
import sys

import numpy as np

import core as chainer
import core.functions as F
import core.initializers as I
import core.links as L
from core import cuda, reporter, training
from core.training import extensions


class ContinuousBoW(chainer.Chain):
    def __init__(self, n_vocab, n_units, loss_func):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=I.Uniform(1.0 / n_units))
            self.loss_func = loss_func

    def __call__(self, x, contexts):
        e = self.embed(contexts)
        h = F.sum(e, axis=1) * (1.0 / contexts.shape[1])
        loss = self.loss_func(h, x)
        reporter.report({"loss": loss}, self)
        return loss


class SoftmaxCrossEntropyLoss(chainer.Chain):
    def __init__(self, n_in, n_out):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(n_in, n_out, initialW=0)

    def __call__(self, x, t):
        return F.softmax_cross_entropy(self.out(x), t)


class WindowIterator(chainer.dataset.Iterator):
    def __init__(self, dataset, window, batch_size, repeat=True):
        self.dataset, self.window = np.array(dataset, np.int32), window
        self.batch_size, self._repeat = batch_size, repeat
        self.order = np.random.permutation(len(dataset) - window * 2).astype(np.int32) + window
        self.current_position = self.epoch = 0
        self.is_new_epoch = False

    def __next__(self):
        if not self._repeat and self.epoch > 0:
            raise StopIteration
        end = self.current_position + self.batch_size
        position = self.order[self.current_position : end]
        offset = np.concatenate([np.arange(-self.window, 0), np.arange(1, self.window + 1)])
        self.is_new_epoch = end >= len(self.order)
        self.current_position = 0 if self.is_new_epoch else end
        self.epoch += self.is_new_epoch
        return self.dataset.take(position), self.dataset.take(position[:, None] + offset)

    @property
    def epoch_detail(self):
        return self.epoch + float(self.current_position) / len(self.order)

    def serialize(self, serializer):
        self.current_position = serializer("current_position", self.current_position)
        self.epoch = serializer("epoch", self.epoch)
        serializer("order", self.order)


def convert(batch, device):
    if device is not None and device >= 0:
        return tuple(cuda.to_gpu(array) for array in batch)
    return batch


np.random.seed(0)
words = np.arange(600) % 12
counts = collections.Counter(words.tolist())
tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(counts)
losses = [
    L.BinaryHierarchicalSoftmax(8, tree),
    L.NegativeSampling(8, [counts[w] for w in range(12)], 5),
    SoftmaxCrossEntropyLoss(8, 12),
]
for number, loss_func in enumerate(losses):
    model = ContinuousBoW(12, 8, loss_func)
    optimizer = chainer.optimizers.Adam(0.05)
    optimizer.setup(model)
    train_iter = WindowIterator(words[:400], 2, 50)
    val_iter = WindowIterator(words[400:], 2, 50, repeat=False)
    updater = training.updaters.StandardUpdater(train_iter, optimizer, convert, device=-1)
    trainer = training.Trainer(updater, (4, "epoch"), out=f"{sys.argv[1]}/{number}")
    trainer.extend(extensions.Evaluator(val_iter, model, converter=convert, device=-1))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.snapshot())
    trainer.run()
    log = trainer.get_extension("LogReport").log
    assert log[-1]["validation/main/loss"] < 0.7 * log[0]["main/loss"], loss_func
