"""A variational autoencoder: a loss function with the model's own report, worker processes."""

import sys

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import datasets, iterators, training
from core.training import extensions


class VAE(chainer.Chain):
    def __init__(self, n_in, n_latent, n_h):
        super().__init__()
        with self.init_scope():
            self.le1 = L.Linear(n_in, n_h)
            self.le2_mu = L.Linear(n_h, n_latent)
            self.le2_ln_var = L.Linear(n_h, n_latent)
            self.ld1 = L.Linear(n_latent, n_h)
            self.ld2 = L.Linear(n_h, n_in)

    def encode(self, x):
        h = F.tanh(self.le1(x))
        return self.le2_mu(h), self.le2_ln_var(h)

    def decode(self, z, sigmoid=True):
        h = self.ld2(F.tanh(self.ld1(z)))
        return F.sigmoid(h) if sigmoid else h

    def get_loss_func(self, C=1.0, k=1):
        def lf(x):
            mu, ln_var = self.encode(x)
            batchsize = len(mu.data)
            rec_loss = 0
            for _ in range(k):
                z = F.gaussian(mu, ln_var)
                rec_loss += F.bernoulli_nll(x, self.decode(z, sigmoid=False)) / (k * batchsize)
            self.loss = rec_loss + C * F.gaussian_kl_divergence(mu, ln_var) / batchsize
            chainer.report({"rec_loss": rec_loss, "loss": self.loss}, observer=self)
            return self.loss

        return lf


class Every(object):  # noqa: UP004
    def __init__(self, n):
        self.n, self.fired = n, 0

    def __call__(self, trainer):
        fire = trainer.updater.iteration % self.n == 0
        self.fired += fire
        return fire

    def serialize(self, serializer):
        self.fired = serializer("fired", self.fired)


def doubled(row):
    return np.concatenate([row, row])


if __name__ == "__main__":
    np.random.seed(0)
    rows = (np.random.rand(128, 6) > 0.5).astype("f")
    data = datasets.TransformDataset(rows, doubled)
    model = VAE(12, 4, 24)
    optimizer = chainer.optimizers.Adam(0.02)
    optimizer.setup(model)
    train_iter = iterators.MultiprocessIterator(data, 32, n_processes=2, n_prefetch=1)
    test_iter = iterators.SerialIterator(data, 32, repeat=False, shuffle=False)
    loss_func = model.get_loss_func()
    updater = training.StandardUpdater(train_iter, optimizer, device=-1, loss_func=loss_func)
    trainer = training.Trainer(updater, (8, "epoch"), out=sys.argv[1])
    evaluator = extensions.Evaluator(test_iter, model, eval_func=model.get_loss_func(k=5))
    trainer.extend(evaluator)
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.ParameterStatistics(model.ld2))
    trigger = Every(16)
    name = "snapshot_{.updater.iteration}"
    trainer.extend(extensions.snapshot(filename=name), trigger=trigger)
    trainer.run()
    train_iter.finalize()

    log = trainer.get_extension("LogReport").log
    assert trigger.fired == 2
    assert log[-1]["validation/main/rec_loss"] < 0.8 * log[0]["main/rec_loss"]
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        sample = model.decode(chainer.Variable(np.random.normal(0, 1, (9, 4)).astype("f")))
    assert sample.shape == (9, 12) and 0 < sample.data.min() < sample.data.max() < 1
