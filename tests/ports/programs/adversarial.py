"""Two networks with an optimizer each; the critic's gradient is itself differentiated."""

import os
import sys

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import Variable, training
from core.backends import cuda
from core.training import extensions


class Generator(chainer.Chain):
    def __init__(self, n_hidden=4, ch=8, wscale=0.02):
        super().__init__()
        self.n_hidden, self.ch = n_hidden, ch
        w = chainer.initializers.Normal(wscale)
        with self.init_scope():
            self.l0 = L.Linear(n_hidden, 4 * ch, initialW=w)
            self.bn0 = L.BatchNormalization(4 * ch)
            self.dc1 = L.Deconvolution2D(ch, 1, 4, 2, 1, initialW=w)

    def make_hidden(self, batchsize):
        return np.random.uniform(-1, 1, (batchsize, self.n_hidden)).astype(np.float32)

    def __call__(self, z):
        h = F.reshape(F.relu(self.bn0(self.l0(z))), (len(z), self.ch, 2, 2))
        return F.sigmoid(self.dc1(h))


class WGANGPUpdater(training.StandardUpdater):
    def __init__(self, *args, **kwargs):
        self.gen, self.dis = kwargs.pop("models")
        super().__init__(*args, **kwargs)

    def update_core(self):
        gen, dis = self.gen, self.dis
        batch = self.get_iterator("main").next()
        x_real = Variable(self.converter(batch, self.device)) / 255.0
        xp = cuda.get_array_module(x_real.data)
        z = Variable(xp.asarray(gen.make_hidden(len(batch))))
        x_fake = gen(z)
        y_fake = dis(x_fake)
        loss_gen = F.sum(-y_fake) / len(batch)
        gen.cleargrads()
        loss_gen.backward()
        self.get_optimizer("gen").update()
        x_fake.unchain_backward()

        eps = xp.random.uniform(0, 1, size=(len(batch), 1, 1, 1)).astype("f")
        x_mid = Variable((eps * x_real + (1.0 - eps) * x_fake).data)
        (grad,) = chainer.grad([dis(x_mid)], [x_mid], enable_double_backprop=True)
        norm = F.sqrt(F.batch_l2_norm_squared(grad))
        loss_gp = 10 * F.mean_squared_error(norm, xp.ones_like(norm.data))
        loss_dis = F.sum(dis(x_fake) - dis(x_real)) / len(batch)
        dis.cleargrads()
        loss_dis.backward()
        loss_gp.backward()
        self.get_optimizer("dis").update()
        chainer.report({"loss": loss_gen}, gen)
        chainer.report({"loss": loss_dis, "gp": loss_gp}, dis)


def out_generated_image(gen, dst):
    @training.make_extension(trigger=(1, "epoch"))
    def make_image(trainer):
        with chainer.using_config("train", False):
            x = gen(Variable(gen.make_hidden(4)))
        x = np.asarray(np.clip(cuda.to_cpu(x.data) * 255, 0.0, 255.0), dtype=np.uint8)
        np.save(os.path.join(dst, f"image{trainer.updater.iteration:0>4}.npy"), x)

    return make_image


def make_optimizer(model):
    optimizer = chainer.optimizers.Adam(alpha=0.002, beta1=0.5)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer.WeightDecay(0.0001), "hook_dec")
    return optimizer


np.random.seed(0)
gen = Generator()
dis = chainer.Sequential(L.Convolution2D(1, 8, 3, 1, 1), F.leaky_relu, L.Linear(None, 1))
images = (np.random.rand(64, 1, 4, 4) * 255).astype("f")
updater = WGANGPUpdater(
    models=(gen, dis),
    iterator=chainer.iterators.SerialIterator(images, 16),
    optimizer={"gen": make_optimizer(gen), "dis": make_optimizer(dis)},
    device=-1,
)
trainer = training.Trainer(updater, (5, "epoch"), out=sys.argv[1])
trainer.extend(extensions.LogReport(trigger=(4, "iteration")))
trainer.extend(extensions.snapshot_object(gen, "gen_{.updater.iteration}.npz"))
trainer.extend(out_generated_image(gen, sys.argv[1]))
trainer.run()

log = trainer.get_extension("LogReport").log
assert log[-1]["dis/gp"] < log[0]["dis/gp"] and "gen/loss" in log[0]
assert {"gen_20.npz", "image0020.npy"} <= set(os.listdir(sys.argv[1]))
