"""A recurrent language model: an iterator and an updater of its own, truncated backpropagation."""

import sys

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import training
from core.training import extensions


class RNNForLM(chainer.Chain):
    def __init__(self, n_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.l1 = L.LSTM(n_units, n_units)
            self.l2 = L.Linear(n_units, n_vocab)
        for param in self.params():
            param.data[...] = np.random.uniform(-0.1, 0.1, param.data.shape)

    def reset_state(self):
        self.l1.reset_state()

    def __call__(self, x):
        return self.l2(F.dropout(self.l1(self.embed(x)), ratio=0.1))


class ParallelSequentialIterator(chainer.dataset.Iterator):
    def __init__(self, dataset, batch_size, repeat=True):
        self.dataset, self.batch_size, self.repeat = dataset, batch_size, repeat
        self.offsets = [i * len(dataset) // batch_size for i in range(batch_size)]
        self.iteration = self.epoch = 0
        self.is_new_epoch = False

    def __next__(self):
        if not self.repeat and self.iteration * self.batch_size >= len(self.dataset):
            raise StopIteration
        current = self.words()
        self.iteration += 1
        epoch = self.iteration * self.batch_size // len(self.dataset)
        self.is_new_epoch = self.epoch < epoch
        self.epoch = epoch
        return list(zip(current, self.words(), strict=True))

    @property
    def epoch_detail(self):
        return self.iteration * self.batch_size / len(self.dataset)

    def words(self):
        return [self.dataset[(o + self.iteration) % len(self.dataset)] for o in self.offsets]

    def serialize(self, serializer):
        self.iteration = serializer("iteration", self.iteration)
        self.epoch = serializer("epoch", self.epoch)


class BPTTUpdater(training.updaters.StandardUpdater):
    def __init__(self, train_iter, optimizer, bprop_len, device):
        super().__init__(train_iter, optimizer, device=device)
        self.bprop_len = bprop_len

    def update_core(self):
        loss = 0
        optimizer = self.get_optimizer("main")
        for _ in range(self.bprop_len):
            batch = self.get_iterator("main").__next__()
            x, t = self.converter(batch, self.device)
            loss += optimizer.target(chainer.Variable(x), chainer.Variable(t))
        optimizer.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()


def compute_perplexity(result):
    result["perplexity"] = np.exp(result["main/loss"])
    if "validation/main/loss" in result:
        result["val_perplexity"] = np.exp(result["validation/main/loss"])


np.random.seed(0)
words = np.array([0, 1, 2, 3, 4, 5, 6, 7] * 60, dtype=np.int32)
rnn = RNNForLM(8, 16)
model = L.Classifier(rnn)
model.compute_accuracy = False
optimizer = chainer.optimizers.Adam(0.02)
optimizer.setup(model)
optimizer.add_hook(chainer.optimizer.GradientClipping(5))
updater = BPTTUpdater(ParallelSequentialIterator(words[:400], 10), optimizer, 5, -1)
trainer = training.Trainer(updater, (8, "epoch"), out=sys.argv[1])
eval_model = model.copy()
val_iter = ParallelSequentialIterator(words[400:], 1, repeat=False)
reset = lambda _: eval_model.predictor.reset_state()  # noqa: E731
trainer.extend(extensions.Evaluator(val_iter, eval_model, device=-1, eval_hook=reset))
report = extensions.LogReport(postprocess=compute_perplexity, trigger=(8, "iteration"))
trainer.extend(report)
trainer.extend(extensions.snapshot_object(model, "model_{.updater.iteration}"))
trainer.run()

assert rnn.l1.h is not None
assert report.log[0]["perplexity"] > 4 and report.log[-1]["val_perplexity"] < 2
