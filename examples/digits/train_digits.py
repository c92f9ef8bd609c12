"""Train a small convolutional network on handwritten digits.

    python examples/digits/train_digits.py                        a minute at most, on two cores
    python examples/digits/train_digits.py --resume               go on where a run was interrupted
    mpiexec -n 4 python examples/digits/train_digits.py --communicator mpi      four processes

Loss and accuracy appear in a table; the log, curves, graph, snapshots and a record of how the run
was made lie in `result/`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import core
import core.functions as F
import core.links as L
from core import communicators, datasets, iterators, optimizers, serializers, training
from core.errors import CoreError
from core.training import extensions


class Network(core.Chain):
    """Two convolutions and two linear layers, on images of 8x8 pixels."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 24, ksize=3, pad=1)
            self.conv2 = L.Convolution2D(24, 48, ksize=3, pad=1)
            self.l1 = L.Linear(None, 128)
            self.l2 = L.Linear(128, 10)

    def forward(self, x):
        h = F.relu(self.conv1(x))
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        h = F.dropout(F.relu(self.l1(h)), 0.4)
        return self.l2(h)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epoch", type=int, default=15, help="passes over the training set")
    parser.add_argument("--batchsize", type=int, default=64, help="images in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument(
        "--resume",
        nargs="?",
        const="auto",
        metavar="PATH",
        help="go on from a snapshot; without a path (or with 'auto') from the newest in --out",
    )
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--communicator", help="mpi, for processes that mpiexec has started")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order and dropout")
    parser.add_argument(
        "--check", type=float, metavar="PERCENT", help="fail below this held-out accuracy"
    )
    return parser.parse_args()


def make_trainer(arguments: argparse.Namespace) -> training.Trainer:
    core.seed(arguments.seed)
    train, test = datasets.get_digits(ndim=3)
    optimizer = optimizers.Adam(alpha=0.002)
    comm = communicators.create_communicator(arguments.communicator or "local")
    if comm.size == 1:
        train_batches = iterators.SerialIterator(train, arguments.batchsize)
    else:  # a batch, and the test images, are divided among the ranks
        train_batches = communicators.PartitionedIterator(train, arguments.batchsize, comm)
        test = communicators.scatter_dataset(test, comm, force_equal_length=False)
        optimizer = communicators.create_multi_node_optimizer(optimizer, comm)
    test_batches = iterators.SerialIterator(test, 120, repeat=False, shuffle=False)

    model = L.Classifier(Network())
    optimizer.setup(model)
    device = core.get_device(arguments.backend)
    updater = training.updaters.StandardUpdater(train_batches, optimizer, device=device)

    trainer = training.Trainer(updater, (arguments.epoch, "epoch"), arguments.out)
    loss = ["main/loss", "validation/main/loss"]
    accuracy = ["main/accuracy", "validation/main/accuracy"]
    evaluator = extensions.Evaluator(test_batches, model, device=device)
    trainer.extend(communicators.create_multi_node_evaluator(evaluator, comm))
    trainer.extend(extensions.dump_graph(loss[0], filename="graph.dot"))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.RunRecord(arguments))
    trainer.extend(extensions.PrintReport(["epoch", *loss, *accuracy, "elapsed_time"]))
    if extensions.PlotReport.available():
        trainer.extend(extensions.PlotReport(loss, "epoch", filename="loss.png"))
        trainer.extend(extensions.PlotReport(accuracy, "epoch", filename="accuracy.png"))
    trainer.extend(extensions.ProgressBar())
    trainer.extend(extensions.snapshot(n_retains=3, autoload=arguments.resume == "auto"))
    if arguments.resume not in (None, "auto"):
        serializers.load_npz(arguments.resume, trainer)
    return trainer


def held_out_accuracy(out: str) -> float:
    log = json.loads((Path(out) / "log").read_text(encoding="utf-8"))
    return 100 * log[-1]["validation/main/accuracy"]


def main() -> int:
    arguments = parse_arguments()
    try:
        core.use(arguments.backend)
        trainer = make_trainer(arguments)
    except (CoreError, ImportError, OSError, ValueError) as error:
        return fail(error)  # a backend or library that is not here, a missing file: it says why
    trainer.run()
    if trainer.communicator is not None and trainer.communicator.rank:
        return 0  # the first rank tells

    accuracy = held_out_accuracy(arguments.out)
    print(f"Held-out accuracy: {accuracy:.2f} %. Results are in {arguments.out}/.")
    if arguments.check is not None and accuracy < arguments.check:
        return fail(f"Expected at least {arguments.check} % held-out accuracy.")
    return 0


def fail(reason: object) -> int:
    print(f"train_digits: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
