"""What ChainerMN's users write beyond one classifier: two optimizers, sequences, divided layers."""

import sys

import numpy as np

import core as chainer
import core.communicators as chainermn
import core.functions as F
import core.links as L
from core import training
from core.training import extensions

comm = chainermn.create_communicator("naive")
out = sys.argv[1]


def alike(*models):
    """Whether the ranks have the same parameters to the bit."""
    params = [p for model in models for _, p in sorted(model.namedparams())]
    return len({*comm.allgather_obj(b"".join(p.array.tobytes() for p in params))}) == 1


# ---------------------------------------------------------------------- two adversaries


class Discriminator(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(1, 4, 3, stride=2, pad=1)
            self.norm = L.BatchNormalization(4)
            self.out = L.Linear(None, 1)

    def forward(self, x):
        return self.out(F.leaky_relu(self.norm(self.conv(x))))


class Generator(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.up = L.Deconvolution2D(3, 1, 8)

    def make_hidden(self, count):
        return np.random.uniform(-1, 1, (count, 3, 1, 1)).astype(np.float32)

    def forward(self, z):
        return F.sigmoid(self.up(z))


class AdversarialUpdater(training.updaters.StandardUpdater):
    def __init__(self, *args, **kwargs):
        self.gen, self.dis = kwargs.pop("models")
        super().__init__(*args, **kwargs)

    def loss_dis(self, dis, y_fake, y_real):
        loss = F.sum(F.softplus(-y_real) + F.softplus(y_fake)) / len(y_fake)
        chainer.report({"loss": loss}, dis)
        return loss

    def loss_gen(self, gen, y_fake):
        loss = F.sum(F.softplus(-y_fake)) / len(y_fake)
        chainer.report({"loss": loss}, gen)
        return loss

    def update_core(self):
        gen_optimizer, dis_optimizer = self.get_optimizer("gen"), self.get_optimizer("dis")
        batch = self.get_iterator("main").next()
        x_real = chainer.Variable(self.converter(batch, self.device))
        y_real = self.dis(x_real)
        y_fake = self.dis(self.gen(chainer.Variable(self.gen.make_hidden(len(batch)))))
        dis_optimizer.update(self.loss_dis, self.dis, y_fake, y_real)
        gen_optimizer.update(self.loss_gen, self.gen, y_fake)


def adversaries():
    gen, dis = Generator(), Discriminator()

    def make_optimizer(model):
        made = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(2e-4, beta1=0.5), comm)
        made.setup(model)
        made.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4), "hook_dec")
        return made

    images = np.random.default_rng(0).random((24, 1, 8, 8), "f") if comm.rank == 0 else None
    images = chainermn.scatter_dataset(images, comm)
    updater = AdversarialUpdater(
        models=(gen, dis),
        iterator=chainer.iterators.SerialIterator(images, 4),
        optimizer={"gen": make_optimizer(gen), "dis": make_optimizer(dis)},
    )
    trainer = training.Trainer(updater, (5, "iteration"), out=f"{out}/adversaries")
    if comm.rank == 0:
        trainer.extend(extensions.snapshot_object(gen, "gen_{.updater.iteration}.npz"))
        trainer.extend(extensions.LogReport(trigger=(1, "iteration")))
        trainer.extend(extensions.PrintReport(["iteration", "gen/loss", "dis/loss"]))
    trainer.run()
    assert alike(gen)
    assert comm.allreduce_obj(int(np.isfinite(dis.conv.W.array).all())) == comm.size


# ---------------------------------------------------------------------- sequences of any length


class Translator(chainer.Chain):
    def __init__(self, words):
        super().__init__()
        with self.init_scope():
            self.embed_x, self.embed_y = L.EmbedID(words, 6), L.EmbedID(words, 6)
            self.encoder, self.decoder = L.NStepLSTM(1, 6, 8, 0.1), L.NStepLSTM(1, 6, 8, 0.1)
            self.W = L.Linear(8, words)

    def forward(self, xs, ys):
        hx, cx, _ = self.encoder(None, None, [self.embed_x(x) for x in xs])
        _, _, os = self.decoder(hx, cx, [self.embed_y(y) for y in ys])
        loss = F.softmax_cross_entropy(self.W(F.concat(os, axis=0)), F.concat(ys, axis=0))
        chainer.report({"loss": loss}, self)
        return loss


class MeanLength(training.Extension):
    """As the score of translations: each rank has its part, and all have the mean."""

    trigger = (1, "epoch")

    def __init__(self, data):
        self.data = data

    def __call__(self, trainer):
        total = comm.allreduce_obj(sum(len(y) for _, y in self.data))
        count = comm.allreduce_obj(len(self.data))
        self.found = total / count


def translation():
    pairs = None
    if comm.rank == 0:
        draw = np.random.RandomState(0)
        pairs = [tuple(draw.randint(0, 9, draw.randint(1, 6)).astype("i") for _ in "xy")
                 for _ in range(21)]  # fmt: skip
    pairs = chainermn.scatter_dataset(pairs, comm, shuffle=True, seed=1)
    model = Translator(9)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1.0))

    def convert(batch, device):
        return {"xs": [x for x, _ in batch], "ys": [y for _, y in batch]}

    updater = training.StandardUpdater(
        chainer.iterators.SerialIterator(pairs, 4), optimizer, converter=convert
    )
    trigger = chainermn.get_epoch_trigger(2, pairs, 4, comm)
    trainer = training.Trainer(updater, trigger, out=f"{out}/translation")
    length = MeanLength(pairs)
    trainer.extend(length)
    trainer.run()
    assert alike(model)
    assert len({*comm.allgather_obj(length.found)}) == 1


# ---------------------------------------------------------------------- layers over all ranks


class ParallelConvolution2D(L.Convolution2D):
    """Each rank computes its part of the channels, and gets those of all."""

    def __init__(self, in_channels, out_channels, ksize):
        super().__init__(in_channels, out_channels // comm.size, ksize)

    def forward(self, x):
        return F.concat(chainermn.functions.allgather(comm, super().forward(x)), axis=1)


def convolution():
    draw = np.random.RandomState(0)
    channels = 2 * comm.size
    W, b = draw.randn(channels, 3, 3, 3).astype("f"), draw.randn(channels).astype("f")
    x, g = draw.randn(2, 3, 6, 6).astype("f"), draw.randn(2, channels, 4, 4).astype("f")
    own = slice(2 * comm.rank, 2 * comm.rank + 2)
    divided, whole = ParallelConvolution2D(3, channels, 3), L.Convolution2D(3, channels, 3)
    divided.W.array[...], divided.b.array[...] = W[own], b[own]
    whole.W.array[...], whole.b.array[...] = W, b
    y, expected = divided(chainer.Variable(x)), whole(chainer.Variable(x))
    np.testing.assert_allclose(y.array, expected.array, rtol=1e-5, atol=1e-5)
    for each in (y, expected):
        each.grad = g
        each.backward()
    # Each rank has a loss of its own of all channels, so the gradients of all of these add up.
    np.testing.assert_allclose(divided.W.grad, comm.size * whole.W.grad[own], rtol=1e-4, atol=1e-4)


adversaries()
translation()
convolution()
comm.barrier()
if comm.rank == 0:
    print(f"shaped {comm.size}")
