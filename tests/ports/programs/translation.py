"""Sequence to sequence with NStepLSTM: a converter to keywords, and an extension that reports."""

import sys

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import training
from core.training import extensions

EOS = 1


def sequence_embed(embed, xs):
    sections = np.cumsum([len(x) for x in xs[:-1]])
    return F.split_axis(embed(F.concat(xs, axis=0)), sections, 0)


class Seq2seq(chainer.Chain):
    def __init__(self, n_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed_x = L.EmbedID(n_vocab, n_units)
            self.embed_y = L.EmbedID(n_vocab, n_units)
            self.encoder = L.NStepLSTM(1, n_units, n_units, 0.1)
            self.decoder = L.NStepLSTM(1, n_units, n_units, 0.1)
            self.W = L.Linear(n_units, n_vocab)

    def __call__(self, xs, ys):
        eos = self.xp.array([EOS], np.int32)
        ys_in = [F.concat([eos, y], axis=0) for y in ys]
        ys_out = F.concat([F.concat([y, eos], axis=0) for y in ys], axis=0)
        hx, cx, _ = self.encoder(None, None, sequence_embed(self.embed_x, xs))
        _, _, os = self.decoder(hx, cx, sequence_embed(self.embed_y, ys_in))
        each = F.softmax_cross_entropy(self.W(F.concat(os, axis=0)), ys_out, reduce="no")
        loss = F.sum(each) / len(xs)
        perp = self.xp.exp(loss.data * len(xs) / ys_out.shape[0])
        chainer.report({"loss": loss.data, "perp": perp}, self)
        return loss

    def translate(self, xs, max_length=6):
        with chainer.no_backprop_mode(), chainer.using_config("train", False):
            h, c, _ = self.encoder(None, None, sequence_embed(self.embed_x, xs))
            ys, result = self.xp.full(len(xs), EOS, np.int32), []
            for _ in range(max_length):
                eys = F.split_axis(self.embed_y(ys), len(xs), 0)
                h, c, ys = self.decoder(h, c, eys)
                ys = self.xp.argmax(self.W(F.concat(ys, axis=0)).data, axis=1).astype(np.int32)
                result.append(chainer.cuda.to_cpu(ys))
        rows = np.stack(result).T.tolist()
        return [row[: row.index(EOS)] if EOS in row else row for row in rows]


def convert(batch, device):
    xs, ys = zip(*batch, strict=True)
    return {
        "xs": [chainer.dataset.to_device(device, x) for x in xs],
        "ys": [chainer.dataset.to_device(device, y) for y in ys],
    }


class Exact(training.Extension):
    trigger = 1, "epoch"
    priority = training.PRIORITY_WRITER

    def __init__(self, model, data):
        self.model, self.data = model, data

    def __call__(self, trainer):
        outs = self.model.translate([x for x, _ in self.data])
        right = [out == y.tolist() for out, (_, y) in zip(outs, self.data, strict=True)]
        chainer.report({"exact": float(np.mean(right))})


np.random.seed(0)
data = []
for i in range(80):
    x = np.random.randint(2, 7, i % 2 + 1).astype(np.int32)
    data.append((x, x[::-1].copy()))
model = Seq2seq(7, 24)
optimizer = chainer.optimizers.Adam(0.02)
optimizer.setup(model)
batches = chainer.iterators.SerialIterator(data, 20)
updater = training.updaters.StandardUpdater(batches, optimizer, converter=convert, device=-1)
trainer = training.Trainer(updater, (12, "epoch"), out=sys.argv[1])
trainer.extend(extensions.LogReport())
trainer.extend(Exact(model, data[:10]))
trainer.run()

log = trainer.get_extension("LogReport").log
assert log[-1]["exact"] >= 0.5 and log[-1]["main/perp"] < log[0]["main/perp"]
