"""Predict a column of a table from the others: numbers and words, from pandas or Arrow.

    python examples/table/train_table.py                                 a generated table
    python examples/table/train_table.py --table F.csv --target price    your own: CSV by pandas,
                                                     or .parquet, .feather and .arrow by Arrow
    python examples/table/train_table.py --resume       go on where a run was interrupted

Numbers come in as how many standard deviations they are above their mean, words as vectors that
are learned (Guo and Berkhahn 2016, arXiv:1604.06737); a missing number as the mean, a missing word
as a word of its own. A fifth of the rows is held out: what is checked is how much of the variance
of their target is explained (R²), in percent. Needs pandas or pyarrow, which `plugrad[table]` has.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.errors import CoreError
from core.training import extensions

SIZE = 8  # of the vector of a word


class Network(core.Chain):
    """The target, from numbers (n, a) and the codes of words (n, b)."""

    def __init__(self, vocabulary: int, units: int = 128) -> None:
        super().__init__()
        with self.init_scope():
            self.vectors = L.EmbedID(max(vocabulary, 1), SIZE)
            self.layers = core.Sequential(
                L.Linear(None, units), F.relu, L.Linear(units, units), F.relu, L.Linear(units, 1)
            )

    def predict(self, numbers, words):
        vectors = F.reshape(self.vectors(words), (len(words), words.shape[1] * SIZE))
        return self.layers(F.concat([numbers, vectors], axis=1))[:, 0]

    def forward(self, numbers, words, target):
        loss = F.mean_squared_error(self.predict(numbers, words), target)
        core.report({"loss": loss}, self)
        return loss


def read(path):
    """The table in a file, of Arrow or of pandas; without one, a generated table."""
    try:
        if path is None:
            return generated(6000)
        if Path(path).suffix == ".parquet":
            from pyarrow import parquet

            return parquet.read_table(path)
        if Path(path).suffix in (".feather", ".arrow"):
            from pyarrow import feather

            return feather.read_table(path)
        from pandas import read_csv

        return read_csv(path)
    except ImportError as error:
        raise ValueError(f"{error}: run `pip install 'plugrad[table]'`") from error


def generated(rows):
    """Rents of flats that nobody lives in, with noise and with holes."""
    from pandas import DataFrame

    rng = np.random.default_rng(0)
    size, age, floor = rng.gamma(9, 8, rows), rng.uniform(0, 100, rows), rng.integers(0, 8, rows)
    place = rng.integers(0, 6, rows)
    worth = np.array([1.1, 1.5, 1.3, 0.8, 1.2, 0.9])[place] * (1 - 0.4 * np.sin(np.pi * age / 100))
    rent = 9 * size**0.9 * worth + 15 * floor * (place != 1) + rng.normal(0, 25, rows)
    size[rng.random(rows) < 0.05] = np.nan
    names = np.array(["harbour", "hill", "market", "mill", "park", "station"])[place]
    return DataFrame({"size": size, "age": age, "floor": floor, "place": names, "rent": rent})


def prepare(table, target):
    """Rows to train on, rows held out, and how many words there are; as datasets of columns."""
    names = list(getattr(table, "column_names", None) or table.columns)
    if target not in names:
        raise ValueError(f"expected --target to be one of {', '.join(names)}; got {target!r}")
    order = np.random.default_rng(0).permutation(len(table))
    held_out, known = np.split(order, [len(order) // 5])
    numbers, words, vocabulary = np.zeros((len(order), 0), "f"), np.zeros((len(order), 0), "i"), 0
    for name in names:
        column = np.asarray(table[name])
        if column.dtype.kind in "biuf":  # measured in standard deviations of what is trained on
            column = column.astype("f")
            column = (column - np.nanmean(column[known])) / (np.nanstd(column[known]) + 1e-6)
            if name == target:
                wanted = column
            else:
                numbers = np.column_stack([numbers, np.nan_to_num(column)])
        elif name == target:
            raise ValueError(f"expected numbers as --target; {target!r} has {column.dtype}")
        else:
            said = ["" if each is None or each != each else str(each) for each in column]
            found, codes = np.unique(said, return_inverse=True)
            words = np.column_stack([words, (vocabulary + codes).astype("i")])
            vocabulary += len(found)
    rows = datasets.from_data({"numbers": numbers, "words": words, "target": wanted})
    return rows.slice[known], rows.slice[held_out], vocabulary


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", metavar="FILE", help="your table; without, one is generated")
    parser.add_argument("--target", default="rent", metavar="COLUMN", help="what to predict")
    parser.add_argument("--epoch", type=int, default=20, help="passes over the training set")
    parser.add_argument("--batchsize", type=int, default=64, help="rows in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights and order")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this, held out")
    return parser.parse_args()


def train(arguments):
    """The network, and the table's held-out rows."""
    rows, held_out, vocabulary = prepare(read(arguments.table), arguments.target)
    batches = iterators.SerialIterator(rows, arguments.batchsize)
    testing = iterators.SerialIterator(held_out, 500, repeat=False, shuffle=False)
    model = Network(vocabulary)
    optimizer = optimizers.Adam(alpha=2e-3).setup(model)
    device = core.get_device(arguments.backend)
    updater = training.updaters.StandardUpdater(batches, optimizer, device=device)
    trainer = training.Trainer(updater, (arguments.epoch, "epoch"), arguments.out)

    every = (max(1, arguments.epoch // 10), "epoch")
    losses = ["main/loss", "validation/main/loss"]
    steps = arguments.epoch * len(rows) // arguments.batchsize
    trainer.extend(extensions.CosineShift("alpha", steps))
    trainer.extend(extensions.Evaluator(testing, model, device=device), trigger=every)
    trainer.extend(extensions.LogReport(trigger=every))
    trainer.extend(extensions.PrintReport(["epoch", *losses, "elapsed_time"]))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    trainer.run()
    return model, held_out


def explained(model, held_out, out):
    """How much of the variance is explained, in percent; with a picture, if Matplotlib is there."""
    columns = held_out.convert(held_out.fetch())
    with core.using_config("train", False), core.no_backprop_mode():
        numbers, words = (model.xp.asarray(columns[name]) for name in ("numbers", "words"))
        predicted = core.cuda.to_cpu(model.predict(numbers, words).array)
    if extensions.PlotReport.available():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4.5, 4.5), layout="constrained")
        axes = figure.subplots()
        axes.scatter(columns["target"], predicted, s=6, alpha=0.5, linewidth=0)
        axes.axline((0, 0), slope=1, color="0.6", linewidth=1)
        axes.set(xlabel="held-out target, in standard deviations", ylabel="predicted")
        figure.savefig(f"{out}/predicted.png", dpi=150)
    return 100 * (1 - np.mean((predicted - columns["target"]) ** 2) / np.var(columns["target"]))


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    try:
        core.use(arguments.backend)
        figure = explained(*train(arguments), arguments.out)
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    print(f"Explained of the held-out target: {figure:.2f} %. Results are in {arguments.out}/.")
    if arguments.check is not None and not figure >= arguments.check:
        return fail(f"expected at least {arguments.check} % to be explained")
    return 0


def fail(reason: object) -> int:
    print(f"train_table: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
