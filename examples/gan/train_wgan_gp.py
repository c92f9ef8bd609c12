"""Let a network invent handwritten digits: WGAN-GP, whose loss has the norm of a gradient in it.

    python examples/gan/train_wgan_gp.py                   a minute, on two cores
    python examples/gan/train_wgan_gp.py --way backward    the penalty by backward, not by grad
    python examples/gan/train_wgan_gp.py --resume          go on where a run was interrupted

A critic learns to tell real digits (8x8 pixels) from generated ones, and the generator to please
it. The critic's slope is held near 1 by a penalty (Gulrajani et al. 2017, arXiv:1704.00028), which
is differentiated once more. Generated digits lie in `result/` as PNG files, if Matplotlib is
installed. The figure that is checked is the share of them that a linear classifier, trained on real
digits, is sure of: more than 0.9 for one class.
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

NOISE, PENALTY = 32, 10.0


def generator():
    return core.Sequential(
        *(L.Linear(NOISE, 256), L.BatchNormalization(256), F.relu),
        *(L.Linear(256, 256), L.BatchNormalization(256), F.relu),
        *(L.Linear(256, 64), F.sigmoid),
    )


def critic():
    return core.Sequential(
        *(L.Linear(64, 256), F.leaky_relu),
        *(L.Linear(256, 256), F.leaky_relu),
        L.Linear(256, 1),
    )


def slope_by_grad(critic, x):
    """The gradient of the critic at x, as `core.grad` returns it."""
    (gradient,) = core.grad([F.sum(critic(x))], [x], enable_double_backprop=True)
    return gradient


def slope_by_backward(critic, x):
    """The same from `backward`, which leaves it in `x.grad_var`, and some in the parameters too."""
    F.sum(critic(x)).backward(enable_double_backprop=True)
    gradient = x.grad_var
    critic.cleargrads()
    return gradient


SLOPES = {"grad": slope_by_grad, "backward": slope_by_backward}


class Updater(training.updaters.StandardUpdater):
    """Several steps of the critic, then one of the generator."""

    def __init__(self, *args, way, steps, **keywords):
        super().__init__(*args, **keywords)
        self.slope, self.steps = SLOPES[way], steps

    def noise(self, n):
        xp = self.get_optimizer("generator").target.xp
        return xp.asarray(np.random.standard_normal((n, NOISE)).astype("f"))

    def update_core(self):
        make, judge = self.get_optimizer("generator"), self.get_optimizer("critic")
        for _ in range(self.steps):
            real = self.converter(self.get_iterator("main").next(), self.device)
            with core.no_backprop_mode():
                fake = make.target(self.noise(len(real))).array
            judge.update(self.critic_loss, judge.target, real, fake)
        made = make.target(self.noise(len(real)))
        loss = -F.mean(judge.target(made))
        make.update(lambda: loss)

    def critic_loss(self, critic, real, fake):
        share = np.random.uniform(size=(len(real), 1)).astype("f")
        share = critic.xp.asarray(share)
        between = core.Variable(share * real + (1 - share) * fake)
        norm = F.sqrt(F.sum(self.slope(critic, between) ** 2, axis=1))
        penalty = F.mean((norm - 1) ** 2)
        distance = F.mean(critic(real)) - F.mean(critic(fake))
        core.report({"distance": distance, "penalty": penalty})
        return PENALTY * penalty - distance


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=2500, help="steps of the generator")
    parser.add_argument("--steps", type=int, default=3, help="steps of the critic for each")
    parser.add_argument("--batchsize", type=int, default=64, help="digits in a batch")
    parser.add_argument("--way", choices=SLOPES, default="grad", help="how the slope is computed")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order and noise")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this share")
    return parser.parse_args()


def make_trainer(make, judge, arguments):
    real, _ = datasets.get_digits(withlabel=False)
    every = (max(1, arguments.iterations // 10), "iteration")
    opts = {
        "generator": optimizers.Adam(alpha=2e-4, beta1=0.5).setup(make),
        "critic": optimizers.Adam(alpha=2e-4, beta1=0.5).setup(judge),
    }
    updater = Updater(
        iterators.SerialIterator(real, arguments.batchsize),
        opts,
        device=arguments.backend,
        way=arguments.way,
        steps=arguments.steps,
    )
    trainer = training.Trainer(updater, (arguments.iterations, "iteration"), arguments.out)
    trainer.extend(extensions.LogReport(trigger=every))
    columns = ["iteration", "distance", "penalty", "elapsed_time"]
    trainer.extend(extensions.PrintReport(columns))
    trainer.extend(draw_digits, trigger=every)
    trainer.extend(extensions.ProgressBar(update_interval=20))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    return trainer


def generated(make, n, seed=0):
    """Digits (n, 64) in [0, 1], the same for a seed."""
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
            sure = F.softmax(classifier(digits)).array.max(axis=1)
        shares.append(100 * float((sure > 0.9).mean()))
    return shares


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    np.random.seed(arguments.seed)
    make, judge = generator(), critic()
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
    print(f"train_wgan_gp: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
