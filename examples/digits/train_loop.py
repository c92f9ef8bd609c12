"""Train on handwritten digits in a loop of one's own: no trainer, no updater, no iterator.

    python examples/digits/train_loop.py                   some seconds
    python examples/digits/train_loop.py --resume          go on where a run was interrupted

All that a trainer does is written out here: batches, steps, evaluation, the log, and files to go on
from, with which an interrupted run ends with the same numbers. `confusion.png` counts which digit
is taken for which, if Matplotlib is installed.
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
from core import datasets, optimizers, serializers
from core.errors import CoreError


class Network(core.Chain):
    """Two layers with dropout, and a score for each of the ten digits."""

    def __init__(self, units: int = 256) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(64, units)
            self.l2 = L.Linear(units, units)
            self.l3 = L.Linear(units, 10)

    def forward(self, x):
        h = F.dropout(F.relu(self.l1(x)))
        h = F.dropout(F.relu(self.l2(h)))
        return self.l3(h)


class State:
    """What a run goes on from: network, optimizer, and the log, with an entry for each epoch."""

    def __init__(self, model, optimizer):
        self.model, self.optimizer, self.log = model, optimizer, []

    def serialize(self, serializer):
        """Save or load everything; `serializer` knows which of both."""
        self.model.serialize(serializer["model"])
        self.optimizer.serialize(serializer["optimizer"])
        self.log = json.loads(serializer("log", json.dumps(self.log)))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epoch", type=int, default=20, help="passes over the training set")
    parser.add_argument("--batchsize", type=int, default=64, help="images in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order and dropout")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this, held out")
    return parser.parse_args()


def train_epoch(model, optimizer, x, t, order, batchsize) -> float:
    """One pass over images x with labels t in this order; gives the mean loss."""
    total = 0.0
    for start in range(0, len(order), batchsize):
        batch = order[start : start + batchsize]
        loss = F.softmax_cross_entropy(model(x[batch]), t[batch])
        model.cleargrads()
        loss.backward()
        optimizer.update()
        total += float(loss.array) * len(batch)
    return total / len(order)


def predicted(model, x):
    """The digit that each image shows, as the network sees it."""
    with core.using_config("train", False), core.no_backprop_mode():
        return model(x).array.argmax(axis=1)


def run(arguments) -> tuple[State, np.ndarray]:
    if min(arguments.epoch, arguments.batchsize) < 1:
        raise ValueError("expected --epoch and --batchsize of at least 1")
    core.seed(arguments.seed)
    model = Network()
    model.to_device(arguments.backend)
    optimizer = optimizers.Adam(alpha=0.002).setup(model)
    (x, t), (held_x, held_t) = (
        core.dataset.concat_examples(part, arguments.backend) for part in datasets.get_digits()
    )
    state, out = State(model, optimizer), Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    if arguments.resume and (out / "state.npz").exists():
        serializers.load_npz(out / "state.npz", state)
        print(f"Resumed from {out / 'state.npz'}", file=sys.stderr)

    print("epoch      loss  held-out accuracy")
    for epoch in range(len(state.log) + 1, arguments.epoch + 1):
        # Each epoch has random numbers of its own: a resumed run needs none of those before it.
        seed = np.random.SeedSequence([arguments.seed, epoch]).generate_state(1).item()
        core.seed(seed)
        order = model.xp.asarray(np.random.default_rng(seed).permutation(len(x)))
        loss = train_epoch(model, optimizer, x, t, order, arguments.batchsize)
        accuracy = float((predicted(model, held_x) == held_t).mean())
        state.log.append({"epoch": epoch, "loss": loss, "accuracy": accuracy})
        serializers.save_npz(out / "state.npz", state)  # whole, or not at all
        (out / "log").write_text(json.dumps(state.log, indent=1), encoding="utf-8")
        print(f"{epoch:5}  {loss:8.5f}  {100 * accuracy:15.2f} %")
    confusion = np.zeros((10, 10), int)
    pairs = core.cuda.to_cpu(held_t), core.cuda.to_cpu(predicted(model, held_x))
    np.add.at(confusion, pairs, 1)
    return state, confusion


def draw_confusion(confusion, path):
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(4.8, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.imshow(confusion, cmap="Blues", vmax=confusion.sum() / 10)
    for (digit, taken), count in np.ndenumerate(confusion):
        if count:
            colour = "white" if digit == taken else "#B5442A"
            axes.text(taken, digit, count, ha="center", va="center", fontsize=9, color=colour)
    axes.set(xticks=range(10), yticks=range(10), xlabel="taken for", ylabel="digit")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    figure.savefig(path, dpi=150)


def main() -> int:
    arguments = parse_arguments()
    try:
        core.use(arguments.backend)
        state, confusion = run(arguments)
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    draw_confusion(confusion, f"{arguments.out}/confusion.png")
    accuracy = 100 * state.log[-1]["accuracy"]
    print(f"Held-out accuracy: {accuracy:.2f} %. Results are in {arguments.out}/.")
    if arguments.check is not None and accuracy < arguments.check:
        return fail(f"expected at least {arguments.check} % held-out accuracy")
    return 0


def fail(reason: object) -> int:
    print(f"train_loop: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
