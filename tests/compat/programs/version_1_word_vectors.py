"""Word vectors as written for version 1.10 and later: links by keyword, an own iterator."""

import sys

import chainer
import chainer.functions as F
import chainer.initializers as I
import chainer.links as L
import chainer.optimizers as O
import numpy as np
from chainer import reporter, training
from chainer.training import extensions


class ContinuousBoW(chainer.Chain):
    def __init__(self, n_vocab, n_units, loss_func):
        super(ContinuousBoW, self).__init__(  # noqa: UP008 - as it was written
            embed=L.EmbedID(n_vocab, n_units, initialW=I.Uniform(1.0 / n_units)),
            loss_func=loss_func,
        )

    def __call__(self, x, context):
        e = self.embed(context)
        h = F.sum(e, axis=1) * (1.0 / context.data.shape[1])
        loss = self.loss_func(h, x)
        reporter.report({"loss": loss}, self)
        return loss


class WindowIterator(chainer.dataset.Iterator):
    def __init__(self, dataset, window, batch_size, repeat=True):
        self.dataset = np.array(dataset, np.int32)
        self.window = window
        self.batch_size = batch_size
        self._repeat = repeat
        self.order = np.random.permutation(len(dataset) - window * 2).astype(np.int32) + window
        self.current_position = 0
        self.epoch = 0
        self.is_new_epoch = False

    def __next__(self):
        if not self._repeat and self.epoch > 0:
            raise StopIteration
        i = self.current_position
        i_end = i + self.batch_size
        position = self.order[i:i_end]
        offset = np.concatenate([np.arange(-self.window, 0), np.arange(1, self.window + 1)])
        context = self.dataset.take(position[:, None] + offset[None, :])
        center = self.dataset.take(position)
        self.is_new_epoch = i_end >= len(self.order)
        if self.is_new_epoch:
            np.random.shuffle(self.order)
            self.epoch += 1
            self.current_position = 0
        else:
            self.current_position = i_end
        return center, context

    @property
    def epoch_detail(self):
        return self.epoch + float(self.current_position) / len(self.order)

    def serialize(self, serializer):
        self.current_position = serializer("current_position", self.current_position)
        self.epoch = serializer("epoch", self.epoch)
        self.is_new_epoch = serializer("is_new_epoch", self.is_new_epoch)
        try:  # noqa: SIM105 - as it was written
            serializer("order", self.order)
        except KeyError:
            pass


def convert(batch, device):
    return chainer.Variable(batch[0]), chainer.Variable(batch[1])


words = np.tile(np.arange(15), 8)
counts = np.bincount(words)
loss_func = L.NegativeSampling(6, counts, 4)
loss_func.W.data[...] = 0
model = ContinuousBoW(15, 6, loss_func)
optimizer = O.Adam()
optimizer.setup(model)
optimizer.add_hook(chainer.optimizer.GradientClipping(5.0))
updater = training.StandardUpdater(WindowIterator(words, 2, 20), optimizer, converter=convert)
trainer = training.Trainer(updater, (2, "epoch"), out=sys.argv[1])
trainer.extend(
    extensions.Evaluator(
        WindowIterator(words[:31], 2, 20, repeat=False),
        model,
        converter=convert,
    )
)
trainer.extend(extensions.LogReport(trigger=(1, "epoch")))
trainer.extend(extensions.snapshot(filename="last", trigger=(2, "epoch")))
trainer.run()
chainer.serializers.save_npz(sys.argv[1] + "/model.npz", model)
np.save(sys.argv[1] + "/means.npy", [float(trainer.observation["validation/main/loss"])])
