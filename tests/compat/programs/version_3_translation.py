"""A translator as written for version 2 and 3: ragged sequences, recurrent layers, a converter."""

import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions

UNK, EOS = 0, 1


def sequence_embed(embed, xs):
    x_len = [len(x) for x in xs]
    x_section = np.cumsum(x_len[:-1])
    ex = embed(F.concat(xs, axis=0))
    return F.split_axis(ex, x_section, 0)


class Seq2seq(chainer.Chain):
    def __init__(self, n_layers, n_source_vocab, n_target_vocab, n_units):
        super(Seq2seq, self).__init__()  # noqa: UP008 - as it was written
        with self.init_scope():
            self.embed_x = L.EmbedID(n_source_vocab, n_units)
            self.embed_y = L.EmbedID(n_target_vocab, n_units)
            self.encoder = L.NStepLSTM(n_layers, n_units, n_units, 0.1)
            self.decoder = L.NStepLSTM(n_layers, n_units, n_units, 0.1)
            self.W = L.Linear(n_units, n_target_vocab)

    def __call__(self, xs, ys):
        xs = [x[::-1] for x in xs]
        eos = self.xp.array([EOS], np.int32)
        ys_in = [F.concat([eos, y], axis=0) for y in ys]
        ys_out = [F.concat([y, eos], axis=0) for y in ys]
        hx, cx, _ = self.encoder(None, None, sequence_embed(self.embed_x, xs))
        _, _, os = self.decoder(hx, cx, sequence_embed(self.embed_y, ys_in))
        concat_os = F.concat(os, axis=0)
        concat_ys_out = F.concat(ys_out, axis=0)
        batch = len(xs)
        loss = F.sum(F.softmax_cross_entropy(self.W(concat_os), concat_ys_out, reduce="no")) / batch
        chainer.report({"loss": loss.data}, self)
        perp = self.xp.exp(loss.data * batch / concat_ys_out.shape[0])
        chainer.report({"perp": perp}, self)
        return loss

    def translate(self, xs, max_length=6):
        batch = len(xs)
        with chainer.no_backprop_mode(), chainer.using_config("train", False):
            xs = [x[::-1] for x in xs]
            h, c, _ = self.encoder(None, None, sequence_embed(self.embed_x, xs))
            ys = self.xp.full(batch, EOS, np.int32)
            result = []
            for _ in range(max_length):
                eys = F.split_axis(self.embed_y(ys), batch, 0)
                h, c, ys = self.decoder(h, c, eys)
                ys = self.xp.argmax(self.W(F.concat(ys, axis=0)).data, axis=1).astype(np.int32)
                result.append(ys)
        return np.stack(chainer.cuda.to_cpu(np.array(result)), axis=1)


def convert(batch, device):
    def to_device_batch(batch):
        if device is None:
            return batch
        return [chainer.dataset.to_device(device, x) for x in batch]

    return {
        "xs": to_device_batch([x for x, _ in batch]),
        "ys": to_device_batch([y for _, y in batch]),
    }


def main():
    rng = np.random.RandomState(3)
    data = []
    for _ in range(24):
        x = rng.randint(2, 8, rng.randint(2, 6)).astype(np.int32)
        data.append((x, x[::-1].copy()))
    model = Seq2seq(2, 8, 8, 6)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer.WeightDecay(1e-4))
    train_iter = chainer.iterators.SerialIterator(data, 8)
    updater = training.StandardUpdater(train_iter, optimizer, converter=convert, device=-1)
    trainer = training.Trainer(updater, (3, "epoch"), out=sys.argv[1])
    trainer.extend(extensions.LogReport(trigger=(1, "epoch")))
    trainer.extend(extensions.snapshot_object(model, "model.npz"), trigger=(3, "epoch"))
    trainer.run()
    np.savez(sys.argv[1] + "/result.npz", words=model.translate([x for x, _ in data[:3]]) * 1.0)


if __name__ == "__main__":
    main()
