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


class ShareOfConvolution2D(L.Convolution2D):
    """Each rank has every so many-th channel of the input and of the output."""

    def __init__(self, in_channels, out_channels, ksize):
        self._comm = comm
        self.in_channels = in_channels
        self.out_channels = out_channels
        super().__init__(len(self.share(in_channels)), len(self.share(out_channels)), ksize)

    def share(self, count):
        return list(range(self._comm.rank, count, self._comm.size))

    def forward(self, x):
        return super().forward(x[:, self.share(self.in_channels)])


def attributes():
    layer = ShareOfConvolution2D(5, 4, 3)
    assert layer.in_channels == 5
    assert layer(np.ones((1, 5, 3, 3), "f")).shape == (1, 2, 1, 1)
    assert L.Convolution2D(None, 2, 1)(np.ones((1, 5, 3, 3), "f")).shape == (1, 2, 3, 3)


# ---------------------------------------------------------------------- a model over two ranks


class First(chainermn.MultiNodeChainList):
    """Has sizes, sends what it computes, and gets the answer."""

    def __init__(self, apart):
        super().__init__(comm=apart)
        self.add_link(L.Linear(6, 5), rank_in=None, rank_out=1)
        self.add_link(L.Linear(None, 3), rank_in=1, rank_out=None)


class Second(chainermn.MultiNodeChainList):
    """Takes its size from what comes: a second forward would wait for ever."""

    def __init__(self, apart):
        super().__init__(comm=apart)
        self.add_link(L.Linear(None, 4), rank_in=0, rank_out=0)


def parallel_both_ways():
    """Two ranks have the parts of a model; others, of which there may be none, its copies."""
    data, apart = comm.split(comm.rank % 2, comm.rank), comm.split(comm.rank // 2, comm.rank)
    chainer.seed(comm.rank)
    model = L.Classifier(First(apart)) if apart.rank == 0 else Second(apart)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), data)
    optimizer.setup(model)
    draw = np.random.RandomState(comm.rank // 2)
    calls = []
    link = model.predictor if apart.rank == 0 else model
    for child in link.children():
        child.add_hook(Counter(calls), name="counter")
    for _ in range(3):
        x, t = draw.randn(4, 6).astype("f"), draw.randint(0, 3, 4).astype("i")
        if apart.rank == 0:
            optimizer.update(model, x, t)
        else:
            optimizer.update(model)
    assert len(calls) == 3 * len([*link.children()]), calls
    found = data.allgather_obj([p.array.tobytes() for _, p in sorted(model.namedparams())])
    assert all(each == found[0] for each in found)


class Counter(chainer.LinkHook):
    name = "counter"

    def __init__(self, calls):
        self.calls = calls

    def forward_postprocess(self, args):
        self.calls.append(args.link)


if comm.size == 2:
    adversaries()
    translation()
    convolution()
    attributes()
parallel_both_ways()
comm.barrier()
if comm.rank == 0:
    print(f"shaped {comm.size}")
