"""A classifier as written for version 6 and 7: devices, sequences of layers, distributions."""

import argparse

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions


class Encoder(chainer.Chain):
    def __init__(self, n_latent):
        super().__init__()
        with self.init_scope():
            self.body = chainer.Sequential(L.Linear(None, 10), F.relu, L.Linear(None, 10), F.tanh)
            self.mu = L.Linear(n_latent)
            self.ln_sigma = L.Linear(n_latent)

    def forward(self, x):
        h = self.body(x)
        return D.Normal(loc=self.mu(h), log_scale=self.ln_sigma(h))


class Model(chainer.Chain):
    def __init__(self, n_latent, n_out):
        super().__init__()
        with self.init_scope():
            self.encoder = Encoder(n_latent)
            self.out = L.Linear(n_out).add_hook(chainer.link_hooks.WeightStandardization())
        self.prior = D.Normal(
            loc=np.zeros(n_latent, np.float32), scale=np.ones(n_latent, np.float32)
        )

    def forward(self, x, t):
        q_z = self.encoder(x)
        z = F.mean(q_z.sample(4), axis=0)
        y = self.out(z)
        kl = F.mean(F.sum(chainer.kl_divergence(q_z, self.prior), axis=-1))
        loss = F.softmax_cross_entropy(y, t) + 0.01 * kl
        chainer.report({"loss": loss, "kl": kl, "accuracy": F.accuracy(y, t)}, self)
        return loss


@chainer.dataset.converter()
def convert(batch, device):
    x, t = chainer.dataset.concat_examples(batch)
    return device.send(x.astype(np.float32)), device.send(t)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--device", "-d", type=str, default="-1")
    args = parser.parse_args()
    device = chainer.get_device(args.device)
    device.use()

    rng = np.random.RandomState(2)
    x = rng.rand(50, 8)
    t = (np.arange(50) % 3).astype(np.int32)
    x[np.arange(50), t] += 1
    data = chainer.datasets.TupleDataset(x, t)
    train, test = chainer.datasets.split_dataset(data, 35)

    model = Model(3, 3)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)
    train_iter = chainer.iterators.SerialIterator(train, 10)
    test_iter = chainer.iterators.SerialIterator(test, 10, repeat=False, shuffle=False)
    updater = training.updaters.StandardUpdater(
        train_iter, optimizer, device=device, converter=convert
    )
    trainer = training.Trainer(updater, (3, "epoch"), out=args.out)
    evaluator = extensions.Evaluator(
        test_iter,
        model,
        device=device,
        converter=convert,
    )
    trainer.extend(evaluator)
    trainer.extend(extensions.snapshot(n_retains=1), trigger=(3, "epoch"))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.FailOnNonNumber())
    trainer.run()
    np.savez(
        args.out + "/means.npz",
        **{name.replace("/", "_"): float(value) for name, value in trainer.observation.items()},
    )


if __name__ == "__main__":
    main()
