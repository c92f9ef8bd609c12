"""Train a variational autoencoder on handwritten digits, and draw the plane that it puts them on.

    python examples/autoencoder/train_vae.py               half a minute, on two cores
    python examples/autoencoder/train_vae.py --resume      go on where a run was interrupted

The encoder puts each digit (8x8 pixels) at a place in a plane, with a spread; the decoder draws the
digit of a place (Kingma and Welling 2013, arXiv:1312.6114). The figure that is checked is the
negative evidence lower bound of held-out digits, in nats a digit. `latent.png` shows where digits
lie and `grid.png` what is decoded from a grid of places, if Matplotlib is installed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.errors import CoreError
from core.training import extensions


class Autoencoder(core.Chain):
    """A digit to the mean and the logarithm of the variance of two numbers, and back."""

    def __init__(self, units: int = 256) -> None:
        super().__init__()
        with self.init_scope():
            self.encoder = core.Sequential(
                L.Linear(64, units), F.relu, L.Linear(units, units), F.relu, L.Linear(units, 4)
            )
            self.decoder = core.Sequential(
                L.Linear(2, units), F.relu, L.Linear(units, units), F.relu, L.Linear(units, 64)
            )

    def encode(self, x):
        return F.split_axis(self.encoder(x), 2, axis=1)

    def decode(self, z):
        return F.sigmoid(self.decoder(z))

    def forward(self, x):
        """The negative evidence lower bound of digits x, (n, 64), on average."""
        mean, ln_var = self.encode(x)
        scores = self.decoder(F.gaussian(mean, ln_var))
        reconstruction = F.bernoulli_nll(x, scores) / len(x)
        divergence = F.gaussian_kl_divergence(mean, ln_var) / len(x)
        loss = reconstruction + divergence
        core.report({"loss": loss, "reconstruction": reconstruction}, self)
        return loss


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epoch", type=int, default=150, help="passes over the training set")
    parser.add_argument("--batchsize", type=int, default=64, help="digits in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order and draws")
    parser.add_argument("--check", type=float, metavar="NATS", help="fail above this, held out")
    return parser.parse_args()


def make_trainer(model, arguments):
    train, test = datasets.get_digits(withlabel=False)
    batches = iterators.SerialIterator(train, arguments.batchsize)
    held_out = iterators.SerialIterator(test, 120, repeat=False, shuffle=False)
    optimizer = optimizers.Adam(alpha=1e-3).setup(model)
    device = core.get_device(arguments.backend)
    updater = training.updaters.StandardUpdater(batches, optimizer, device=device)
    trainer = training.Trainer(updater, (arguments.epoch, "epoch"), arguments.out)

    every = (max(1, arguments.epoch // 10), "epoch")
    losses = ["main/loss", "validation/main/loss"]
    steps = arguments.epoch * len(train) // arguments.batchsize
    trainer.extend(extensions.CosineShift("alpha", steps))
    trainer.extend(extensions.Evaluator(held_out, model, device=device), trigger=every)
    trainer.extend(extensions.LogReport(trigger=every))
    trainer.extend(
        extensions.PrintReport(["epoch", *losses, "validation/main/reconstruction", "elapsed_time"])
    )
    if extensions.PlotReport.available():
        trainer.extend(extensions.PlotReport(losses, "epoch", every, filename="loss.png"))
    trainer.extend(extensions.ProgressBar(update_interval=20))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    return trainer


def draw(model, out):
    """Where the encoder puts held-out digits, and what the decoder draws at a grid of places."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure
    from matplotlib.image import imsave

    x, t = core.dataset.concat_examples(datasets.get_digits()[1])
    edges = np.linspace(-2, 2, 20, dtype="f")
    places = np.stack(np.meshgrid(edges, edges[::-1]), axis=-1).reshape(-1, 2)
    with core.using_config("train", False), core.no_backprop_mode():
        means = core.cuda.to_cpu(model.encode(model.xp.asarray(x))[0].array)
        digits = core.cuda.to_cpu(model.decode(model.xp.asarray(places)).array)

    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.subplots()
    points = axes.scatter(*means.T, c=t, s=12, cmap="tab10", vmin=-0.5, vmax=9.5)
    figure.colorbar(points, ticks=range(10), label="digit")
    axes.set(xlabel="first number", ylabel="second number")
    figure.savefig(f"{out}/latent.png", dpi=150)
    sheet = np.pad(digits.reshape(20, 20, 8, 8), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sheet = sheet.transpose(0, 2, 1, 3).reshape(200, 200)
    imsave(f"{out}/grid.png", sheet.repeat(4, axis=0).repeat(4, axis=1), cmap="gray_r")


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    model = Autoencoder()
    try:
        core.use(arguments.backend)
        make_trainer(model, arguments).run()
        draw(model, arguments.out)
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    log = json.loads((Path(arguments.out) / "log").read_text(encoding="utf-8"))
    loss = log[-1]["validation/main/loss"]
    print(f"Held-out digits: {loss:.2f} nats each. Results are in {arguments.out}/.")
    if arguments.check is not None and not loss <= arguments.check:
        return fail(f"expected at most {arguments.check} nats a held-out digit")
    return 0


def fail(reason: object) -> int:
    print(f"train_vae: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
