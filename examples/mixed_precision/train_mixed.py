"""Train on handwritten digits in 16 bits: float16 arrays, float32 masters, a scaled loss.

    python examples/mixed_precision/train_mixed.py                    half a minute, on two cores
    python examples/mixed_precision/train_mixed.py --dtype float32    in 32 bits, to compare
    python examples/mixed_precision/train_mixed.py --resume           go on after an interruption

Weights, activations and gradients take half the memory (Micikevicius et al. 2017,
arXiv:1710.03740). On a GPU with units for float16 a step takes less time too. A CPU has none: there
it takes longer, and what this shows is that the digits are told as well. The figure that is
checked is the percentage of held-out digits that are. `accuracy.png` shows how fast it learns, if
Matplotlib is installed.
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

DTYPES = {"float16": "float16", "float32": "float32", "mixed16": core.mixed16}


class Network(core.Chain):
    """Two convolutions, normalized, and a linear layer, on images of 8x8 pixels."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 32, ksize=3, pad=1)
            self.norm1 = L.BatchNormalization(32)  # its parameters are float32 under mixed16
            self.conv2 = L.Convolution2D(32, 32, ksize=3, pad=1)
            self.norm2 = L.BatchNormalization(32)
            self.last = L.Linear(None, 10)

    def forward(self, x):
        h = F.cast(x, self.conv1.W.dtype)
        h = F.max_pooling_2d(F.relu(self.norm1(self.conv1(h))), 2)
        h = F.max_pooling_2d(F.relu(self.norm2(self.conv2(h))), 2)
        return self.last(h)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", choices=DTYPES, default="mixed16", help="of the parameters")
    parser.add_argument("--epoch", type=int, default=15, help="passes over the training set")
    parser.add_argument("--batchsize", type=int, default=64, help="images in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights and order")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this, held out")
    return parser.parse_args()


def make_trainer(arguments):
    train, test = datasets.get_digits(ndim=3)
    batches = iterators.SerialIterator(train, arguments.batchsize)
    held_out = iterators.SerialIterator(test, 120, repeat=False, shuffle=False)
    model = L.Classifier(Network())
    optimizer = optimizers.Adam(alpha=2e-3).setup(model)
    if arguments.dtype != "float32":
        optimizer.use_fp32_update()  # steps too small for 16 bits add up in a master of 32
        optimizer.loss_scaling()  # gradients too small for 16 bits are multiplied while they are
    device = core.get_device(arguments.backend)
    updater = training.updaters.StandardUpdater(batches, optimizer, device=device)
    trainer = training.Trainer(updater, (arguments.epoch, "epoch"), arguments.out)

    columns = ["main/loss", "main/accuracy", "validation/main/accuracy", "loss_scale"]
    trainer.extend(
        extensions.CosineShift("alpha", arguments.epoch * len(train) // arguments.batchsize)
    )
    trainer.extend(extensions.Evaluator(held_out, model, device=device))
    trainer.extend(extensions.observe_value("loss_scale", lambda _: optimizer.loss_scale))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(["epoch", *columns, "elapsed_time"]))
    if extensions.PlotReport.available():
        trainer.extend(extensions.PlotReport(columns[1:3], "epoch", filename="accuracy.png"))
    trainer.extend(
        extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=(1, "epoch")
    )
    return trainer


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    try:
        core.use(arguments.backend)
        with core.using_config("dtype", DTYPES[arguments.dtype]):
            trainer = make_trainer(arguments)
            trainer.run()
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    log = json.loads((Path(arguments.out) / "log").read_text(encoding="utf-8"))
    accuracy = 100 * log[-1]["validation/main/accuracy"]
    model = trainer.updater.get_optimizer("main").target
    size = sum([each.array.nbytes for each in model.params()]) / 1024
    print(
        f"Held-out accuracy: {accuracy:.2f} %, with {size:.0f} KiB of parameters. "
        f"Results are in {arguments.out}/."
    )
    if arguments.check is not None and not accuracy >= arguments.check:
        return fail(f"expected at least {arguments.check} % held-out accuracy")
    return 0


def fail(reason: object) -> int:
    print(f"train_mixed: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
