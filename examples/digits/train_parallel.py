"""Train on handwritten digits with several copies of a network, each on a device of its own.

    python examples/digits/train_parallel.py               some seconds: two processes on the host
    python examples/digits/train_parallel.py --backend cuda --copies 4      four GPUs
    python examples/digits/train_parallel.py --together    all copies in one process
    python examples/digits/train_parallel.py --resume      go on where a run was interrupted

Every copy computes the gradients of its part of the batch; the network takes a step by all of them,
and hands its new weights out. Whatever the number of copies that divides the batch, an epoch has
the same steps: more copies take less time where each has a processor or GPU for itself.
`accuracy.png` shows how fast it learns, if Matplotlib is installed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.errors import CoreError
from core.training import extensions


def network() -> core.Sequential:
    """Two convolutions and two linear layers, with input sizes: each copy starts with the same."""
    return core.Sequential(
        *(L.Convolution2D(1, 24, ksize=3, pad=1), F.relu),
        *(L.Convolution2D(24, 48, ksize=3, pad=1), F.relu, half),
        *(L.Linear(48 * 4 * 4, 128), F.relu, F.dropout, L.Linear(128, 10)),
    )


def half(x):
    """Images of half the height and width."""
    return F.max_pooling_2d(x, 2)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epoch", type=int, default=15, help="passes over the training set")
    parser.add_argument(
        "--batchsize", type=int, default=64, help="images in a batch, of all copies"
    )
    parser.add_argument("--copies", type=int, default=2, help="copies of the network")
    parser.add_argument("--together", action="store_true", help="all copies in one process")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU each")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order and dropout")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this, held out")
    return parser.parse_args()


def make_updater(train, model, arguments):
    n = arguments.copies
    if n < 1 or arguments.batchsize % n:
        raise ValueError(f"expected a batch that {n} copies can share, got {arguments.batchsize}")
    on_host = arguments.backend == "numpy"
    devices = [arguments.backend if on_host else f"{arguments.backend}:{i}" for i in range(n)]
    if arguments.together:
        # Gradients are added up: with losses that are means, the rate is that of one copy over n.
        names = ["main", *[f"copy {i}" for i in range(1, n)]]
        return training.updaters.ParallelUpdater(
            iterators.SerialIterator(train, arguments.batchsize),
            optimizers.MomentumSGD(lr=0.1 / n).setup(model),
            devices=dict(zip(names, devices, strict=True)),
        )
    # The mean of gradients is taken. Each process has an iterator over a part of the data.
    parts = datasets.split_dataset_n_random(train, n, seed=arguments.seed)
    return training.updaters.MultiprocessParallelUpdater(
        [iterators.SerialIterator(part, arguments.batchsize // n) for part in parts],
        optimizers.MomentumSGD(lr=0.1).setup(model),
        devices=devices,
    )


def make_trainer(arguments: argparse.Namespace) -> training.Trainer:
    core.seed(arguments.seed)
    train, test = datasets.get_digits(ndim=3)
    model = L.Classifier(network())
    updater = make_updater(train, model, arguments)
    trainer = training.Trainer(updater, (arguments.epoch, "epoch"), arguments.out)
    held_out = iterators.SerialIterator(test, 120, repeat=False, shuffle=False)
    accuracy = ["main/accuracy", "validation/main/accuracy"]
    trainer.extend(extensions.Evaluator(held_out, model, device=updater.device))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(["epoch", "main/loss", *accuracy, "elapsed_time"]))
    if extensions.PlotReport.available():
        trainer.extend(extensions.PlotReport(accuracy, "epoch", filename="accuracy.png"))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume))
    return trainer


def main() -> int:
    arguments = parse_arguments()
    try:
        core.use(arguments.backend)
        make_trainer(arguments).run()
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    log = json.loads((Path(arguments.out) / "log").read_text(encoding="utf-8"))
    accuracy = 100 * log[-1]["validation/main/accuracy"]
    print(f"Held-out accuracy: {accuracy:.2f} %. Results are in {arguments.out}/.")
    if arguments.check is not None and accuracy < arguments.check:
        return fail(f"expected at least {arguments.check} % held-out accuracy")
    return 0


def fail(reason: object) -> int:
    print(f"train_parallel: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
