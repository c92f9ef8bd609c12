"""Generated images as written for version 2 to 4: two optimizers, an own updater."""

import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import Variable, training
from chainer.training import extensions


def add_noise(h, sigma=0.2):
    xp = chainer.backends.cuda.get_array_module(h.array)
    if chainer.config.train:
        return h + sigma * xp.random.randn(*h.shape).astype(h.dtype)
    return h


class Generator(chainer.Chain):
    def __init__(self, n_hidden):
        super().__init__()
        self.n_hidden = n_hidden
        w = chainer.initializers.HeNormal(0.5)
        with self.init_scope():
            self.l0 = L.Linear(n_hidden, 2 * 2 * 4, initialW=w)
            self.bn0 = L.BatchNormalization(2 * 2 * 4)
            self.dc1 = L.Deconvolution2D(4, 2, 4, 2, 1, initialW=w)
            self.bn1 = L.BatchNormalization(2)
            self.dc2 = L.Deconvolution2D(2, 1, 3, 1, 1, initialW=w)

    def make_hidden(self, batchsize):
        return np.random.uniform(-1, 1, (batchsize, self.n_hidden, 1, 1)).astype(np.float32)

    def __call__(self, z):
        h = F.reshape(F.relu(self.bn0(self.l0(z))), (len(z), 4, 2, 2))
        return F.sigmoid(self.dc2(F.relu(self.bn1(self.dc1(h)))))


class Discriminator(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c0 = L.Convolution2D(1, 4, 3, 1, 1)
            self.c1 = L.Convolution2D(4, 4, 4, 2, 1)
            self.bn1 = L.BatchNormalization(4, use_gamma=False)
            self.l2 = L.Linear(4 * 2 * 2, 1)

    def __call__(self, x):
        h = F.leaky_relu(self.c0(add_noise(x)))
        h = F.leaky_relu(add_noise(self.bn1(self.c1(h))))
        return self.l2(h)


class DCGANUpdater(training.updaters.StandardUpdater):
    def __init__(self, *args, **kwargs):
        self.gen, self.dis = kwargs.pop("models")
        super().__init__(*args, **kwargs)

    def loss_dis(self, dis, y_fake, y_real):
        batchsize = len(y_fake)
        loss = F.sum(F.softplus(-y_real)) / batchsize + F.sum(F.softplus(y_fake)) / batchsize
        chainer.report({"loss": loss}, dis)
        return loss

    def loss_gen(self, gen, y_fake):
        loss = F.sum(F.softplus(-y_fake)) / len(y_fake)
        chainer.report({"loss": loss}, gen)
        return loss

    def update_core(self):
        gen_optimizer = self.get_optimizer("gen")
        dis_optimizer = self.get_optimizer("dis")
        batch = self.get_iterator("main").next()
        x_real = Variable(self.converter(batch, self.device)) / 255.0
        xp = chainer.backends.cuda.get_array_module(x_real.array)
        gen, dis = self.gen, self.dis
        y_real = dis(x_real)
        z = Variable(xp.asarray(gen.make_hidden(len(batch))))
        x_fake = gen(z)
        y_fake = dis(x_fake)
        dis_optimizer.update(self.loss_dis, dis, y_fake, y_real)
        gen_optimizer.update(self.loss_gen, gen, y_fake)


def out_generated_image(gen, rows, dst):
    @chainer.training.make_extension()
    def make_image(trainer):
        np.random.seed(0)
        z = Variable(gen.make_hidden(rows))
        with chainer.using_config("train", False), chainer.using_config("enable_backprop", False):
            x = gen(z)
        np.save(f"{dst}/image{trainer.updater.iteration:0>3}.npy", x.array)

    return make_image


gen, dis = Generator(5), Discriminator()


def make_optimizer(model, alpha=0.0002, beta1=0.5):
    optimizer = chainer.optimizers.Adam(alpha=alpha, beta1=beta1)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.0001), "hook_dec")
    return optimizer


images = np.random.RandomState(5).randint(0, 256, (20, 1, 4, 4)).astype(np.float32)
updater = DCGANUpdater(
    models=(gen, dis),
    iterator=chainer.iterators.SerialIterator(images, 10),
    optimizer={"gen": make_optimizer(gen), "dis": make_optimizer(dis)},
    device=-1,
)
trainer = training.Trainer(updater, (4, "iteration"), out=sys.argv[1])
trigger = (2, "iteration")
trainer.extend(extensions.snapshot_object(gen, "gen_{.updater.iteration}.npz"), trigger=trigger)
trainer.extend(extensions.snapshot_object(dis, "dis_{.updater.iteration}.npz"), trigger=trigger)
trainer.extend(extensions.LogReport(trigger=trigger))
trainer.extend(
    extensions.PrintReport(["epoch", "iteration", "gen/loss", "dis/loss"]), trigger=trigger
)
trainer.extend(out_generated_image(gen, 3, sys.argv[1]), trigger=trigger)
trainer.run()
