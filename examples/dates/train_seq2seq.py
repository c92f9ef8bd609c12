"""Teach a network to read dates: sequence to sequence, with attention.

    python examples/dates/train_seq2seq.py                 a minute, on two cores
    python examples/dates/train_seq2seq.py --resume        go on where a run was interrupted

Dates as people write them, such as "Friday, 3rd of May 1985", become "1985-05-03". The script makes
the dates itself, in eight ways of writing. A bidirectional LSTM reads, another LSTM writes; before
each character it looks at what was read (Luong et al. 2015, arXiv:1508.04025). The figure that is
checked is the share of held-out dates that are exactly right. `attention.png` shows where it looked
while it wrote one of them, if Matplotlib is installed.
"""

from __future__ import annotations

import argparse
import datetime
import sys

import numpy as np

import core
import core.functions as F
import core.links as L
from core import iterators, optimizers, training
from core.errors import CoreError
from core.training import extensions

WAYS = ["{d} {b} {y}", "{d} {B} {y}", "{B} {d}, {y}", "{A}, {d}{th} of {B} {y}", "{b} {d}{th} {y}"]
WAYS += ["{d}. {m}. {y}", "{m}/{d}/{y}", "{y}, {B} the {d}{th}"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September"]
MONTHS += ["October", "November", "December"]
LETTERS = sorted(set("".join(WAYS + DAYS + MONTHS)) - set("{}") | set("0123456789-sthndr"))
NUMBERS = {letter: number for number, letter in enumerate(LETTERS)}
START = len(LETTERS)  # what the writer is given before its first character
LONGEST, WRITTEN = 33, 10


def in_words(date: datetime.date, way: str) -> str:
    """A date in one of the `WAYS`."""
    month = MONTHS[date.month - 1]
    th = {1: "st", 2: "nd", 3: "rd"}.get(0 if date.day in (11, 12, 13) else date.day % 10, "th")
    parts = {"y": date.year, "m": date.month, "d": date.day, "th": th}
    return way.format(A=DAYS[date.weekday()], B=month, b=month[:3], **parts)


def coded(text: str) -> np.ndarray:
    return np.array([NUMBERS[letter] for letter in text], np.int32)


def make_dates(n: int, seed: int):
    """Pairs of a date in words, padded with -1 in front, and the same in ISO's form."""
    rng = np.random.default_rng(seed)
    first = datetime.date(1900, 1, 1).toordinal()
    days = rng.permutation(datetime.date(2100, 1, 1).toordinal() - first)[:n]
    pairs = []
    for day in days.tolist():
        date = datetime.date.fromordinal(first + day)
        words = coded(in_words(date, WAYS[rng.integers(len(WAYS))]))
        pairs.append(
            (np.pad(words, (LONGEST - len(words), 0), constant_values=-1), coded(str(date)))
        )
    return pairs


class Reader(core.Chain):
    """Reads LONGEST characters, (n, LONGEST), and writes WRITTEN of them, (n, WRITTEN)."""

    def __init__(self, units: int = 64) -> None:
        super().__init__()
        with self.init_scope():
            self.letters = L.EmbedID(len(LETTERS), 32, ignore_label=-1)
            self.written = L.EmbedID(len(LETTERS) + 1, 32)
            self.read = L.NStepBiLSTM(1, 32, units, 0.0)
            self.write = L.StatelessLSTM(32, 2 * units)
            self.combine = L.Linear(4 * units, 2 * units)
            self.score = L.Linear(2 * units, len(LETTERS))

    def forward(self, words, iso=None, attention=None):
        """Scores of each character of the answer; without the answer, the characters chosen.

        A list given as `attention` gets the weights of what was read, (n, LONGEST) a character.
        """
        _, _, read = self.read(None, None, F.separate(self.letters(words)))
        read = F.stack(read)  # (n, LONGEST, 2 units)
        mask = self.xp.where(words < 0, np.float32(-1e9), np.float32(0))
        c, h = None, read[:, -1]
        letter = self.xp.full(len(words), START, dtype=np.int32)
        results = []
        for place in range(WRITTEN):
            c, h = self.write(c, h, self.written(letter))
            weights = F.softmax(F.matmul(read, F.expand_dims(h, 2))[:, :, 0] + mask)
            if attention is not None:
                attention.append(weights.array)
            seen = F.matmul(F.expand_dims(weights, 1), read)[:, 0]
            scores = self.score(F.tanh(self.combine(F.concat([seen, h]))))
            letter = (
                self.xp.argmax(scores.array, axis=1).astype("i") if iso is None else iso[:, place]
            )
            results.append(letter if iso is None else scores)
        return self.xp.stack(results, axis=1) if iso is None else F.stack(results, axis=1)

    def loss(self, words, iso):
        scores = F.reshape(self(words, iso), (-1, len(LETTERS)))
        loss = F.softmax_cross_entropy(scores, iso.reshape(-1))
        core.report({"loss": loss}, self)
        return loss

    def right(self, words, iso):
        """Report the share of dates that it writes exactly, given nothing of the answer."""
        core.report({"right": (self(words) == iso).all(axis=1).mean()}, self)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=300, help="batches to train on")
    parser.add_argument("--batchsize", type=int, default=64, help="dates in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, dates and order")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this share")
    return parser.parse_args()


def make_trainer(model, train, test, arguments):
    every = (max(1, arguments.iterations // 10), "iteration")
    batches = iterators.SerialIterator(train, arguments.batchsize)
    held_out = iterators.SerialIterator(test, 250, repeat=False, shuffle=False)
    device = core.get_device(arguments.backend)
    optimizer = optimizers.Adam(alpha=5e-3).setup(model)
    optimizer.add_hook(core.optimizer_hooks.GradientClipping(1.0))
    updater = training.updaters.StandardUpdater(
        batches, optimizer, device=device, loss_func=model.loss
    )
    trainer = training.Trainer(updater, (arguments.iterations, "iteration"), arguments.out)
    trainer.extend(extensions.CosineShift("alpha", arguments.iterations))
    evaluator = extensions.Evaluator(held_out, model, device=device, eval_func=model.right)
    trainer.extend(evaluator, trigger=every)
    trainer.extend(extensions.LogReport(trigger=every))
    columns = ["iteration", "main/loss", "validation/main/right", "elapsed_time"]
    trainer.extend(extensions.PrintReport(columns))
    trainer.extend(extensions.ProgressBar(update_interval=10))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    return trainer


def text_of(numbers) -> str:
    return "".join(LETTERS[number] for number in numbers if number >= 0)


def draw_attention(weights, source: str, answer: str, path: str) -> None:
    """The weight of each character read, from left to right, for each one written, downwards."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(0.22 * len(source) + 0.5, 0.22 * WRITTEN + 0.6), layout="constrained")
    axes = figure.subplots()
    axes.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(source)), source)
    axes.set_yticks(range(WRITTEN), answer)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    figure.savefig(path, dpi=150)


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    dates = make_dates(12_000, arguments.seed)
    train, test = dates[:11_000], dates[11_000:]
    model = Reader()
    try:
        core.use(arguments.backend)
        make_trainer(model, train, test, arguments).run()
    except (CoreError, OSError, ValueError) as error:
        return fail(error)

    words, iso = core.dataset.concat_examples(test, arguments.backend)
    attention: list = []
    with core.using_config("train", False), core.no_backprop_mode():
        written = model(words, attention=attention)
    right = 100 * float((written == iso).all(axis=1).mean())
    sources, answers = (list(map(text_of, each.tolist())) for each in (words, written))
    for source, answer in zip(sources[:8], answers[:8], strict=True):
        print(f"{source:>33}  ->  {answer}")
    longest = max(range(len(sources)), key=lambda i: len(sources[i]))
    source = sources[longest]
    weights = np.stack([core.cuda.to_cpu(each[longest, -len(source) :]) for each in attention])
    draw_attention(weights, source, answers[longest], f"{arguments.out}/attention.png")
    print(f"Right: {right:.1f} % of {len(test)} held-out dates. Results are in {arguments.out}/.")
    if arguments.check is not None and right < arguments.check:
        return fail(f"expected at least {arguments.check} % of held-out dates to be right")
    return 0


def fail(reason: object) -> int:
    print(f"train_seq2seq: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
