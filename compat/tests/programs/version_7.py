"""A variational autoencoder as written for Chainer 6 and 7: devices, distributions, snapshots."""

import argparse

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
from chainer import training
from chainer.training import extensions


class AvgELBOLoss(chainer.Chain):
    def __init__(self, encoder, decoder, prior, beta=1.0, k=1):
        super().__init__()
        self.beta, self.k = beta, k
        with self.init_scope():
            self.encoder, self.decoder, self.prior = encoder, decoder, prior

    def forward(self, x):
        q_z = self.encoder(x)
        z = q_z.sample(self.k)
        p_x = self.decoder(z)
        p_z = self.prior()
        reconstr = F.mean(F.sum(p_x.log_prob(F.broadcast_to(x[None, :], (self.k, *x.shape))), -1))
        kl = F.mean(F.sum(chainer.kl_divergence(q_z, p_z), axis=-1))
        loss = -(reconstr - self.beta * kl)
        chainer.report({"loss": loss, "reconstr": reconstr, "kl_penalty": kl}, self)
        return loss


class Encoder(chainer.Chain):
    def __init__(self, n_in, n_latent, n_h):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(n_in, n_h)
            self.mu = L.Linear(n_h, n_latent)
            self.ln_sigma = L.Linear(n_h, n_latent)

    def forward(self, x):
        h = F.tanh(self.linear(x))
        return D.Normal(loc=self.mu(h), log_scale=self.ln_sigma(h))


class Decoder(chainer.Chain):
    def __init__(self, n_in, n_latent, n_h):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(n_latent, n_h)
            self.output = L.Linear(n_h, n_in)

    def forward(self, z):
        h = F.tanh(self.linear(z, n_batch_axes=2))
        return D.Bernoulli(logit=self.output(h, n_batch_axes=2), binary_check=False)


class Prior(chainer.Link):
    def __init__(self, n_latent):
        super().__init__()
        self.loc = np.zeros(n_latent, np.float32)
        self.scale = np.ones(n_latent, np.float32)
        self.register_persistent("loc")
        self.register_persistent("scale")

    def forward(self):
        return D.Normal(self.loc, scale=self.scale)


@chainer.dataset.converter()
def binarized(batch, device):
    return device.send(np.asarray(batch, dtype=np.float32) > 0.5).astype(np.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", "-d", type=str, default="-1")
    parser.add_argument("--epoch", "-e", default=1, type=int)
    parser.add_argument("--out", "-o", default="result")
    args = parser.parse_args()

    device = chainer.get_device(args.device)
    device.use()
    if device.xp is chainerx:
        raise RuntimeError("not for ChainerX")

    model = AvgELBOLoss(Encoder(784, 3, 16), Decoder(784, 3, 16), Prior(3), k=2)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    train, test = chainer.datasets.get_mnist(withlabel=False)
    train_iter = chainer.iterators.SerialIterator(train, 20)
    test_iter = chainer.iterators.SerialIterator(test, 20, repeat=False, shuffle=False)
    updater = training.updaters.StandardUpdater(
        train_iter, optimizer, device=device, converter=binarized
    )
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)
    trainer.extend(extensions.Evaluator(test_iter, model, device=device, converter=binarized))
    trainer.extend(extensions.snapshot(autoload=True, n_retains=1), trigger=(1, "epoch"))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.FailOnNonNumber())
    trainer.extend(
        extensions.PrintReport(["epoch", "main/loss", "validation/main/loss", "main/kl_penalty"])
    )
    trainer.run()
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        assert isinstance(model.encoder(device.send(train[:3])), chainer.Distribution)


if __name__ == "__main__":
    main()
