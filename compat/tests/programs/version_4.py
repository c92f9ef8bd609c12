"""A language model as written for Chainer 4 and 5: own iterator and updater."""

import argparse

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.backends import cuda
from chainer.training import extensions


class Model(chainer.Chain):
    def __init__(self, n_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.l1 = L.LSTM(n_units, n_units)
            self.out = L.Linear(n_units, n_vocab)
        for param in self.params():
            param.array[...] = np.random.uniform(-0.1, 0.1, param.shape)

    def reset_state(self):
        self.l1.reset_state()

    def forward(self, x):
        assert cuda.get_array_module(x) is self.xp
        return self.out(F.dropout(self.l1(F.dropout(self.embed(x)))))


class Sequential(chainer.dataset.Iterator):
    def __init__(self, dataset, batch_size, repeat=True):
        self.dataset, self.batch_size, self.repeat = dataset, batch_size, repeat
        self.epoch = self.iteration = 0
        self.is_new_epoch = False
        self.offsets = [i * len(dataset) // batch_size for i in range(batch_size)]
        self._previous_epoch_detail = -1.0

    def __next__(self):
        if not self.repeat and self.iteration * self.batch_size >= len(self.dataset):
            raise StopIteration
        words = self.get_words()
        self._previous_epoch_detail = self.epoch_detail
        self.iteration += 1
        epoch = self.iteration * self.batch_size // len(self.dataset)
        self.is_new_epoch = self.epoch < epoch
        if self.is_new_epoch:
            self.epoch = epoch
        return list(zip(words, self.get_words()))  # noqa: B905 - as it was written

    @property
    def epoch_detail(self):
        return self.iteration * self.batch_size / len(self.dataset)

    @property
    def previous_epoch_detail(self):
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    def get_words(self):
        return [self.dataset[(o + self.iteration) % len(self.dataset)] for o in self.offsets]

    def serialize(self, serializer):
        self.iteration = serializer("iteration", self.iteration)
        self.epoch = serializer("epoch", self.epoch)
        try:
            self._previous_epoch_detail = serializer(
                "previous_epoch_detail", self._previous_epoch_detail
            )
        except KeyError:
            self._previous_epoch_detail = -1.0


class BPTTUpdater(training.updaters.StandardUpdater):
    def __init__(self, train_iter, optimizer, bprop_len, device):
        super().__init__(train_iter, optimizer, device=device)
        self.bprop_len = bprop_len

    def update_core(self):
        loss = 0
        train_iter = self.get_iterator("main")
        optimizer = self.get_optimizer("main")
        for _ in range(self.bprop_len):
            x, t = self.converter(train_iter.__next__(), self.device)
            loss += optimizer.target(chainer.Variable(x), chainer.Variable(t))
        optimizer.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()


def compute_perplexity(result):
    result["perplexity"] = np.exp(result["main/loss"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epoch", "-e", type=int, default=1)
    parser.add_argument("--gpu", "-g", type=int, default=-1)
    parser.add_argument("--out", "-o", default="result")
    args = parser.parse_args()

    train = np.tile(np.arange(10, dtype=np.int32), 20)
    model = L.Classifier(Model(10, 12))
    model.compute_accuracy = False
    optimizer = chainer.optimizers.SGD(lr=1.0)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5))
    updater = BPTTUpdater(Sequential(train, 4), optimizer, 5, args.gpu)
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)

    eval_model = model.copy()
    eval_rnn = eval_model.predictor
    trainer.extend(
        extensions.Evaluator(
            Sequential(train[:20], 1, repeat=False),
            eval_model,
            device=args.gpu,
            eval_hook=lambda _: eval_rnn.reset_state(),
        )
    )
    trainer.extend(extensions.LogReport(postprocess=compute_perplexity, trigger=(5, "iteration")))
    trainer.extend(extensions.snapshot_object(model, "model_iter_{.updater.iteration}"))
    trainer.extend(extensions.snapshot())
    trainer.run()
    chainer.serializers.save_npz(args.out + "/model.npz", model)


if __name__ == "__main__":
    main()
