"""Train a dense network on handwritten digits: the shortest of the examples, by `training.fit`.

    python examples/digits/train_dense.py                  some seconds
    python examples/digits/train_dense.py --resume         go on where a run was interrupted

`mistakes.png` shows held-out digits that the network is wrong about, or right about but least sure
of, with what it takes them for, if Matplotlib is installed.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import core
import core.functions as F
import core.links as L
from core import datasets, optimizers, training
from core.errors import CoreError
from core.training import extensions


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


def network(units: int = 256) -> core.Sequential:
    """Two layers with dropout, and a score for each of the ten digits."""
    return core.Sequential(
        *(L.Linear(64, units), F.relu, F.dropout),
        *(L.Linear(units, units), F.relu, F.dropout),
        L.Linear(units, 10),
    )


def draw_mistakes(scores, x, t, path, rows=4, columns=10):
    """The digits for which the right score is least above the others, or below them."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure

    right = np.take_along_axis(scores, t[:, None], axis=1)[:, 0]
    others = np.where(np.arange(10) == t[:, None], -np.inf, scores)
    margin = right - others.max(axis=1)
    figure = Figure(figsize=(columns * 0.8, rows * 1.05), layout="constrained")
    hardest = np.argsort(margin)[: rows * columns]
    for axes, i in zip(figure.subplots(rows, columns).flat, hardest, strict=True):
        axes.imshow(x[i].reshape(8, 8), cmap="gray_r")
        wrong = margin[i] < 0
        title = f"{t[i]} as {others[i].argmax()}" if wrong else f"{t[i]}"
        axes.set_title(title, fontsize=9, color="#B5442A" if wrong else "#2B3440")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_color("#B5442A" if wrong else "#D5DAE0")
    figure.savefig(path, dpi=150)


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    train, test = datasets.get_digits()
    model = L.Classifier(network())
    try:
        core.use(arguments.backend)
        training.fit(
            *(model, train, arguments.epoch),
            optimizer=optimizers.Adam(alpha=0.002),
            validation=test,
            batch_size=arguments.batchsize,
            out=arguments.out,
            device=arguments.backend,
            resume=arguments.resume,
        )
    except (CoreError, OSError, ValueError) as error:
        return fail(error)

    x, t = core.dataset.concat_examples(test)
    with core.using_config("train", False), core.no_backprop_mode():
        scores = core.cuda.to_cpu(model.predictor(model.xp.asarray(x)).array)
    draw_mistakes(scores, x, t, f"{arguments.out}/mistakes.png")
    accuracy = 100 * float((scores.argmax(axis=1) == t).mean())
    print(f"Held-out accuracy: {accuracy:.2f} %. Results are in {arguments.out}/.")
    if arguments.check is not None and accuracy < arguments.check:
        return fail(f"expected at least {arguments.check} % held-out accuracy")
    return 0


def fail(reason: object) -> int:
    print(f"train_dense: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
