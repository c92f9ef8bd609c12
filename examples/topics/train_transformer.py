"""Train a small transformer to write English, one character after the other.

    python examples/topics/train_transformer.py            some minutes, on two cores
    python examples/topics/train_transformer.py --resume   go on where a run was interrupted

The text is that of Python's own help topics, so nothing is downloaded. Bits per character appear in
a table; in the end the network writes a few lines itself.
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

CONTEXT = 96  # how many characters the network looks back


class Windows(core.dataset.DatasetMixin):
    """Pieces of a text: `CONTEXT` characters, and the one that follows each of them."""

    def __init__(self, text, stride):
        self.text = text
        self.stride = stride

    def __len__(self):
        return (len(self.text) - CONTEXT - 1) // self.stride

    def get_example(self, i):
        piece = self.text[i * self.stride : i * self.stride + CONTEXT + 1]
        return piece[:-1], piece[1:]


class Writer(core.Chain):
    """Embedded characters and places, causal transformer blocks, a score for each character."""

    def __init__(self, characters, size=96, blocks=2, heads=4):
        super().__init__()
        with self.init_scope():
            self.character = L.EmbedID(characters, size, core.initializers.Normal(0.05))
            self.place = L.EmbedID(CONTEXT, size, core.initializers.Normal(0.05))
            self.blocks = core.Sequential(
                *[L.TransformerBlock(size, heads, causal=True, dropout=0.1) for _ in range(blocks)],
                L.LayerNormalization(size),
            )
            self.score = L.Linear(size, characters)

    def forward(self, x):
        places = self.xp.arange(x.shape[1], dtype=x.dtype)
        h = self.blocks(self.character(x) + self.place(places))
        return F.reshape(self.score(h, n_batch_axes=2), (-1, self.score.out_size))

    def loss(self, x, t):
        loss = F.softmax_cross_entropy(self(x), t.reshape(-1))
        core.report({"bits": loss / math.log(2)}, self)
        return loss

    def write(self, text, length, temperature=0.7):
        """Go on after `text`, an int32 array of characters, by `length` more of them."""
        with core.using_config("train", False), core.no_backprop_mode():
            for _ in range(length):
                scores = self(self.xp.asarray(text[None, -CONTEXT:])).array[-1]
                scores = core.cuda.to_cpu(scores) / temperature
                text = np.append(text, np.argmax(scores + np.random.gumbel(size=scores.shape)))
                text = text.astype(np.int32)
        return text


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=1000, help="batches to train on")
    parser.add_argument("--batchsize", type=int, default=32, help="windows in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument(
        "--capture", action="store_true", help="record a step once, and replay it in loops"
    )
    parser.add_argument("--write", type=int, default=400, help="characters to write in the end")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order and dropout")
    parser.add_argument(
        "--check", type=float, metavar="BITS", help="fail above this on held-out text"
    )
    return parser.parse_args()


def make_trainer(model, texts, arguments):
    every = (max(1, arguments.iterations // 10), "iteration")
    train, valid = Windows(texts[0], stride=7), Windows(texts[1], stride=CONTEXT)
    batches = iterators.SerialIterator(train, arguments.batchsize)
    held_out = iterators.SerialIterator(valid, 64, repeat=False, shuffle=False)

    device = core.get_device(arguments.backend)
    optimizer = optimizers.AdamW(alpha=2e-3, weight_decay_rate=1e-4).setup(model)
    optimizer.add_hook(core.optimizer_hooks.GradientClipping(1.0))
    capture = core.capture(fuse=True) if arguments.capture else False
    updater = training.updaters.StandardUpdater(
        batches, optimizer, device=device, loss_func=model.loss, capture=capture
    )
    trainer = training.Trainer(updater, (arguments.iterations, "iteration"), arguments.out)

    decay = ("alpha", (2e-3, 1e-4), (arguments.iterations // 5, arguments.iterations))
    trainer.extend(extensions.LinearShift(*decay))
    evaluator = extensions.Evaluator(
        held_out, model, device=device, eval_func=model.loss, capture=capture
    )
    trainer.extend(evaluator, trigger=every)
    trainer.extend(extensions.LogReport(trigger=every))
    trainer.extend(
        extensions.PrintReport(["iteration", "main/bits", "validation/main/bits", "elapsed_time"])
    )
    if extensions.PlotReport.available():
        bits = ["main/bits", "validation/main/bits"]
        trainer.extend(extensions.PlotReport(bits, "iteration", every, filename="bits.png"))
    trainer.extend(extensions.ProgressBar(update_interval=10))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    return trainer


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

    log = json.loads((Path(arguments.out) / "log").read_text(encoding="utf-8"))
    bits = log[-1]["validation/main/bits"]
    print(f"Held-out text: {bits:.2f} bits a character. The network goes on by itself:\n")
    np.random.seed(arguments.seed)
    print("".join(names[i] for i in model.write(texts[2][:CONTEXT], arguments.write).tolist()))
    if arguments.check is not None and bits > arguments.check:
        return fail(f"expected at most {arguments.check} bits a character on held-out text")
    return 0


def fail(reason: object) -> int:
    print(f"train_transformer: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
