"""Let a convolutional network invent handwritten digits: DCGAN, two losses of one graph.

    python examples/gan/train_dcgan.py                     some minutes, on two cores
    python examples/gan/train_dcgan.py --resume            go on where a run was interrupted

A discriminator learns to tell real digits (8x8 pixels) from generated ones, and the generator to
mislead it (Radford et al. 2015, arXiv:1511.06434). What the discriminator says of generated digits
is in both losses: the graph of it is made once and differentiated twice. Generated digits lie in
`result/` as PNG files, if Matplotlib is installed. The figure that is checked is the share of them
that a linear classifier, trained on real digits, is sure of: more than 0.9 for one class.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.errors import CoreError
from core.training import extensions

NOISE = 32


def generator():
    """Noise (n, NOISE) to images (n, 1, 8, 8), by way of 2x2 and 4x4 pixels."""
    return core.Sequential(
        *(L.Linear(NOISE, 64 * 2 * 2, nobias=True), L.BatchNormalization(256), F.relu),
        lambda h: F.reshape(h, (-1, 64, 2, 2)),
        L.Deconvolution2D(64, 32, ksize=4, stride=2, pad=1, nobias=True),
        *(L.BatchNormalization(32), F.relu),
        *(L.Deconvolution2D(32, 1, ksize=4, stride=2, pad=1), F.sigmoid),
    )


def discriminator():
    """A score for each image: how much it looks like a real one."""
    return core.Sequential(
        *(L.Convolution2D(1, 16, ksize=3, pad=1), F.leaky_relu),
        *(L.Convolution2D(16, 32, ksize=4, stride=2, pad=1), F.leaky_relu),
        *(L.Convolution2D(32, 64, ksize=4, stride=2, pad=1), F.leaky_relu),
        L.Linear(64 * 2 * 2, 1),
    )


class Updater(training.updaters.StandardUpdater):
    """One step of both networks, by the gradients of two losses that share a graph."""

    def update_core(self):
        make, judge = self.get_optimizer("generator"), self.get_optimizer("discriminator")
        real = self.converter(self.next_batch(), self.device)
        noise = np.random.standard_normal((len(real), NOISE)).astype("f")
        says_real = judge.target(real)
        says_fake = judge.target(make.target(make.target.xp.asarray(noise)))
        make_loss = F.mean(F.softplus(-says_fake))
        judge_loss = F.mean(F.softplus(-says_real)) + F.mean(F.softplus(says_fake))
        core.report({"generator": make_loss, "discriminator": judge_loss})
        # Both walks come before both steps, which change the weights that the walks go by.
        for optimizer, loss in ((make, make_loss), (judge, judge_loss)):
            parameters = list(optimizer.target.params())
            for parameter, g in zip(parameters, core.grad([loss], parameters), strict=True):
                parameter.grad_var = g
        make.update()
        judge.update()
        self.count_epoch()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=2500, help="steps of both networks")
    parser.add_argument("--batchsize", type=int, default=64, help="digits in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order and noise")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this share")
    return parser.parse_args()


def make_trainer(make, judge, arguments):
    real, _ = datasets.get_digits(withlabel=False, ndim=3)
    every = (max(1, arguments.iterations // 10), "iteration")
    opts = {
        "generator": optimizers.Adam(alpha=1e-3, beta1=0.5).setup(make),
        "discriminator": optimizers.Adam(alpha=1e-3, beta1=0.5).setup(judge),
    }
    batches = iterators.SerialIterator(real, arguments.batchsize)
    updater = Updater(batches, opts, device=arguments.backend, auto_new_epoch=False)
    trainer = training.Trainer(updater, (arguments.iterations, "iteration"), arguments.out)
    trainer.extend(extensions.LogReport(trigger=every))
    columns = ["iteration", "generator", "discriminator", "elapsed_time"]
    trainer.extend(extensions.PrintReport(columns))
    trainer.extend(draw_digits, trigger=every)
    trainer.extend(extensions.ProgressBar(update_interval=20))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    return trainer


def generated(make, n, seed=0):
    """Images (n, 1, 8, 8) in [0, 1], the same for a seed."""
    noise = np.random.default_rng(seed).standard_normal((n, NOISE)).astype("f")
    with core.using_config("train", False), core.no_backprop_mode():
        return core.cuda.to_cpu(make(make.xp.asarray(noise)).array)


def draw_digits(trainer):
    """Write a hundred digits into a PNG."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.image import imsave

    digits = generated(trainer.updater.get_optimizer("generator").target, 100)
    sheet = np.pad(digits.reshape(10, 10, 8, 8), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sheet = sheet.transpose(0, 2, 1, 3).reshape(100, 100).repeat(6, axis=0).repeat(6, axis=1)
    imsave(f"{trainer.out}/digits_{trainer.updater.iteration:06}.png", sheet, cmap="gray_r")


def recognized(make):
    """The shares of generated and of real digits that a classifier is sure of, in percent."""
    train, test = datasets.get_digits()
    x, t = core.dataset.concat_examples(train)
    held_out, _ = core.dataset.concat_examples(test)
    with core.using("numpy"):  # as the arrays that it gets
        classifier = L.Linear(64, 10)
    optimizer = optimizers.Adam(alpha=0.02).setup(classifier)
    for _ in range(300):
        optimizer.update(lambda: F.softmax_cross_entropy(classifier(x), t))
    shares = []
    for digits in (generated(make, 1000), held_out):
        with core.no_backprop_mode():
            sure = F.softmax(classifier(digits.reshape(-1, 64))).array.max(axis=1)
        shares.append(100 * float((sure > 0.9).mean()))
    return shares


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    np.random.seed(arguments.seed)
    make, judge = generator(), discriminator()
    try:
        core.use(arguments.backend)
        make_trainer(make, judge, arguments).run()
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    share, real = recognized(make)
    print(f"A classifier is sure of {share:.1f} % of the digits, and of {real:.1f} % of real ones.")
    print(f"They are in {arguments.out}/.")
    if arguments.check is not None and share < arguments.check:
        return fail(f"expected at least {arguments.check} % to be recognized")
    return 0


def fail(reason: object) -> int:
    print(f"train_dcgan: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
