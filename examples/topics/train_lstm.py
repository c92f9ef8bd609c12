"""Train an LSTM to write English, one character after the other, by truncated backpropagation.

    python examples/topics/train_lstm.py                   some minutes, on two cores
    python examples/topics/train_lstm.py --resume          go on where a run was interrupted

The text is that of Python's own help topics, so nothing is downloaded. It is read in a few streams
side by side, a piece of each at a time: what the network remembers goes on from piece to piece,
gradients end where the piece begins. In the end the network writes a few lines itself, and
`surprise.png` shows where held-out text surprised it, if Matplotlib is installed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.errors import CoreError
from core.training import extensions

PIECE = 48  # how many characters gradients flow back


class Streams(core.dataset.DatasetMixin):
    """A text as `n` streams side by side: `n` examples in turn are the next piece of each."""

    def __init__(self, text, n, piece=PIECE):
        self.text, self.n, self.piece = text, n, piece
        if not 0 < n * piece < len(text):
            raise ValueError(f"expected 1 to {(len(text) - 1) // piece} streams, got {n}")
        self.pieces = (len(text) - 1) // (n * piece)  # of each stream

    def __len__(self):
        return self.n * self.pieces

    def get_example(self, i):
        start = (i % self.n * self.pieces + i // self.n) * self.piece
        piece = self.text[start : start + self.piece + 1]
        return piece[:-1], piece[1:]


class Writer(core.Chain):
    """Embedded characters, a layer of LSTM, a score for each character that may follow."""

    carried = ("h", "c")  # goes on from piece to piece; snapshots hold it
    h = c = None

    def __init__(self, characters, units=256):
        super().__init__()
        with self.init_scope():
            self.character = L.EmbedID(characters, 64)
            self.lstm = L.NStepLSTM(1, 64, units, 0.0)
            self.score = L.Linear(units, characters)

    def forward(self, x, h=None, c=None):
        """Scores (n, length, characters) after each of the characters x, (n, length); new h, c."""
        h, c, y = self.lstm(h, c, F.separate(self.character(x)))
        return self.score(F.dropout(F.stack(y), 0.3), n_batch_axes=2), h, c

    def surprise(self, scores, t):
        """Bits of each of the characters t, (n, length), that really followed."""
        scores = F.reshape(scores, (-1, self.score.out_size))
        return F.softmax_cross_entropy(scores, t.reshape(-1), reduce="no") / math.log(2)

    def loss(self, x, t):
        scores, self.h, self.c = self(x, self.h, self.c)
        bits = F.mean(self.surprise(scores, t))
        core.report({"bits": bits}, self)
        return bits

    def held_out(self, x, t):
        """Report the same for text that it has not learned from, and remembers nothing before."""
        core.report({"bits": F.mean(self.surprise(self(x)[0], t))}, self)

    def write(self, text, length, temperature=0.7):
        """Go on after `text`, an int32 array of characters, by `length` more of them."""
        h = c = None
        unread = text
        with core.using_config("train", False), core.no_backprop_mode():
            for _ in range(length):
                scores, h, c = self(self.xp.asarray(unread[None]), h, c)
                scores = core.cuda.to_cpu(scores.array[0, -1]) / temperature
                chosen = np.argmax(scores + np.random.gumbel(size=scores.shape))
                unread = np.array([chosen], np.int32)
                text = np.append(text, unread)
        return text


class Updater(training.updaters.StandardUpdater):
    """Backpropagation through a piece, whose past is a constant afterwards."""

    def update_core(self):
        optimizer = self.get_optimizer("main")
        loss = optimizer.target.loss(*self.converter(self.next_batch(), self.input_device))
        optimizer.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()
        self.count_epoch()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=1500, help="batches to train on")
    parser.add_argument("--batchsize", type=int, default=32, help="streams side by side")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--write", type=int, default=400, help="characters to write in the end")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights and dropout")
    parser.add_argument(
        "--check", type=float, metavar="BITS", help="fail above this on held-out text"
    )
    return parser.parse_args()


def make_trainer(model, texts, arguments):
    every = (max(1, arguments.iterations // 10), "iteration")
    train = Streams(texts[0], arguments.batchsize)
    valid = Streams(texts[1], 64, piece=len(texts[1]) // 65)
    batches = iterators.SerialIterator(train, arguments.batchsize, shuffle=False)
    held_out = iterators.SerialIterator(valid, 64, repeat=False, shuffle=False)

    device = core.get_device(arguments.backend)
    optimizer = optimizers.Adam(alpha=4e-3).setup(model)
    optimizer.add_hook(core.optimizer_hooks.GradientClipping(1.0))
    updater = Updater(batches, optimizer, device=device)
    trainer = training.Trainer(updater, (arguments.iterations, "iteration"), arguments.out)

    trainer.extend(extensions.CosineShift("alpha", arguments.iterations))
    evaluator = extensions.Evaluator(held_out, model, device=device, eval_func=model.held_out)
    trainer.extend(evaluator, trigger=every)
    trainer.extend(extensions.LogReport(trigger=every))
    bits = ["main/bits", "validation/main/bits"]
    trainer.extend(extensions.PrintReport(["iteration", *bits, "elapsed_time"]))
    if extensions.PlotReport.available():
        trainer.extend(extensions.PlotReport(bits, "iteration", every, filename="bits.png"))
    trainer.extend(extensions.ProgressBar(update_interval=10))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    return trainer


def draw_surprise(model, text, names, path, width=72, lines=16):
    """Held-out text, each character on a colour that says how many bits it took."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure

    h, c, bits = None, None, []
    with core.using_config("train", False), core.no_backprop_mode():
        for start in range(0, len(text) - 1, PIECE):
            x = model.xp.asarray(text[None, start : start + PIECE + 1])
            scores, h, c = model(x[:, :-1], h, c)
            bits += core.cuda.to_cpu(model.surprise(scores, x[:, 1:]).array).tolist()
    colours, letters, row, column = np.full((lines, width), np.nan), [], -1, 0
    for letter, value in zip((names[i] for i in text[1:].tolist()), bits, strict=True):
        if letter == "\n" or column == width:
            row, column = row + 1, 0
        if row == lines:
            break
        if row >= 0 and letter != "\n":  # from the first whole line on
            colours[row, column] = value
            letters.append((column, row, letter))
            column += 1
    figure = Figure(figsize=(7.4, 3.4), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(colours, cmap="Oranges", vmin=0, vmax=14, aspect="auto")
    for column, row, letter in letters:
        axes.text(column, row, letter, family="monospace", ha="center", va="center", fontsize=9)
    axes.set_axis_off()
    figure.colorbar(image, label="bits", pad=0.01)
    figure.savefig(path, dpi=150)


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    try:
        core.use(arguments.backend)
        texts = datasets.get_topics_characters()
        names = {i: name for name, i in datasets.get_topics_characters_vocabulary().items()}
        model = Writer(len(names))
        make_trainer(model, texts, arguments).run()
    except (CoreError, OSError, ValueError) as error:
        return fail(error)

    draw_surprise(model, texts[2][: 30 * PIECE + 1], names, f"{arguments.out}/surprise.png")
    log = json.loads((Path(arguments.out) / "log").read_text(encoding="utf-8"))
    bits = log[-1]["validation/main/bits"]
    print(f"Held-out text: {bits:.2f} bits a character. The network goes on by itself:\n")
    np.random.seed(arguments.seed)
    print("".join(names[i] for i in model.write(texts[2][:96], arguments.write).tolist()))
    if arguments.check is not None and bits > arguments.check:
        return fail(f"expected at most {arguments.check} bits a character on held-out text")
    return 0


def fail(reason: object) -> int:
    print(f"train_lstm: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
