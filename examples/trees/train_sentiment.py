"""Tell what sentences mean to say, good or bad, with an LSTM that goes up their trees.

    python examples/trees/train_sentiment.py               some seconds
    python examples/trees/train_sentiment.py --resume      go on where a run was interrupted

A small grammar writes sentences as binary trees, with a label at every node: "not" turns what it
stands before into the opposite, "but" makes what follows count, "although" what precedes it, so
that the words alone do not tell. The network is that of Tai et al. 2015 (arXiv:1503.00075); nodes
of one height are computed together, for all trees of a batch. The figure that is checked is the
share of held-out sentences whose root is labelled right. All of these are longer than 8 words, and
none was trained on.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

import core
import core.functions as F
import core.links as L
from core import iterators, optimizers, training
from core.errors import CoreError
from core.training import extensions

LABELS = ("bad", "neutral", "good")
GOOD = ("good", "great", "lovely", "clever", "funny", "warm", "bright", "moving")
BAD = ("bad", "awful", "ugly", "stupid", "dull", "cold", "dark", "boring")
THINGS = ("film", "plot", "ending", "music", "cast", "story", "scene", "dialogue")
OTHERS = ("the", "is", "not", "very", "but", "although", "nobody", "says")
NUMBERS = {word: number for number, word in enumerate((*GOOD, *BAD, *THINGS, *OTHERS))}


class Tree(NamedTuple):
    """A word, or a pair of trees; `label` is one of -1, 0 and 1."""

    label: int
    word: str = ""
    left: Tree | None = None
    right: Tree | None = None

    def __str__(self) -> str:
        return self.word or f"{self.left} {self.right}"


def leaf(word: str) -> Tree:
    return Tree((word in GOOD) - (word in BAD), word)


def quality(rng: Random) -> Tree:
    """Such as `good`, `very bad`, `not very good`."""
    chance = rng.random()
    if chance < 0.5:
        return leaf(rng.choice(GOOD + BAD))
    inner = quality(rng)
    if chance < 0.75 and inner.word:
        return Tree(inner.label, left=leaf("very"), right=inner)
    return Tree(-inner.label, left=leaf("not"), right=inner)


def sentence(rng: Random, depth: int = 0) -> Tree:
    """Such as `the plot is not good but nobody says the music is bad`."""
    chance = rng.random()
    if chance < 0.3 or depth == 3:
        thing = Tree(0, left=leaf("the"), right=leaf(rng.choice(THINGS)))
        what = quality(rng)
        return Tree(what.label, left=thing, right=Tree(what.label, left=leaf("is"), right=what))
    first = sentence(rng, depth + 1)
    if chance < 0.5:
        said = Tree(first.label, left=leaf("says"), right=first)
        return Tree(-first.label, left=leaf("nobody"), right=said)
    link, second = leaf(rng.choice(("but", "although"))), sentence(rng, depth + 1)
    label = second.label if link.word == "but" else first.label
    return Tree(label, left=first, right=Tree(second.label, left=link, right=second))


def make_treebank(n: int, held_out: int, seed: int) -> tuple[list[Tree], list[Tree]]:
    """Different sentences, the last of them held out."""
    rng, trees = Random(seed), {}
    while len(trees) < n + held_out:
        tree = sentence(rng)
        if len(str(tree).split()) > 8:
            trees[str(tree)] = tree
    known = list(trees.values())
    return known[:n], known[n:]


def plan(trees: list[Tree]):
    """What is to be computed, by height: numbers of words, then pairs of numbers of nodes.

    Nodes are numbered in the order in which they are computed. Returns these levels, the labels of
    all nodes, and the numbers of the roots.
    """
    levels: list[list[Tree]] = []

    def place(tree):
        height = 0 if tree.word else 1 + max(place(tree.left), place(tree.right))
        levels.extend([] for _ in range(len(levels), height + 1))
        levels[height].append(tree)
        return height

    for tree in trees:
        place(tree)
    numbers = {id(tree): i for i, tree in enumerate(sum(levels, []))}
    words = [NUMBERS[tree.word] for tree in levels[0]]
    pairs = [[(numbers[id(t.left)], numbers[id(t.right)]) for t in level] for level in levels[1:]]
    labels = [tree.label + 1 for tree in sum(levels, [])]
    return words, pairs, np.array(labels, "i"), np.array([numbers[id(t)] for t in trees])


class Sentiment(core.Chain):
    """The states of words, of pairs of them and so on, and scores of the labels at each node."""

    def __init__(self, units: int = 48) -> None:
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(len(NUMBERS), units)
            self.tree = L.NaryTreeLSTM(units, units, n_ary=2)
            self.score = L.Linear(units, len(LABELS))

    def forward(self, words, pairs):
        c, h = self.tree(None, None, None, None, self.embed(self.xp.asarray(words, dtype="i")))
        for level in pairs:
            left, right = self.xp.asarray(level, dtype="i").T
            new_c, new_h = self.tree(c[left], c[right], h[left], h[right], None)
            c, h = F.concat([c, new_c], axis=0), F.concat([h, new_h], axis=0)
        return self.score(h)

    def loss(self, trees):
        words, pairs, labels, roots = plan(trees)
        labels, roots = self.xp.asarray(labels), self.xp.asarray(roots)
        scores = self(words, pairs)
        loss = F.softmax_cross_entropy(scores, labels)
        core.report({"loss": loss, "roots": F.accuracy(scores[roots], labels[roots])}, self)
        return loss


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epoch", type=int, default=6, help="passes over the treebank")
    parser.add_argument("--batchsize", type=int, default=32, help="sentences in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, treebank and order")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this accuracy")
    return parser.parse_args()


def make_trainer(model, treebank, arguments):
    def as_it_is(batch, device):
        return (batch,)

    train, test = treebank
    batches = iterators.SerialIterator(train, arguments.batchsize)
    held_out = iterators.SerialIterator(test, 100, repeat=False, shuffle=False)
    optimizer = optimizers.Adam(alpha=3e-3).setup(model)
    optimizer.add_hook(core.optimizer_hooks.WeightDecay(1e-5))
    updater = training.updaters.StandardUpdater(
        batches, optimizer, as_it_is, device=arguments.backend, loss_func=model.loss
    )
    trainer = training.Trainer(updater, (arguments.epoch, "epoch"), arguments.out)
    trainer.extend(extensions.Evaluator(held_out, model, as_it_is, eval_func=model.loss))
    trainer.extend(extensions.LogReport())
    roots = ["main/roots", "validation/main/roots"]
    trainer.extend(extensions.PrintReport(["epoch", "main/loss", *roots, "elapsed_time"]))
    if extensions.PlotReport.available():
        trainer.extend(extensions.PlotReport(roots, "epoch", filename="roots.png"))
    trainer.extend(extensions.ProgressBar(update_interval=10))
    newest = extensions.snapshot(n_retains=1, autoload=arguments.resume)
    trainer.extend(newest, trigger=(1, "epoch"))
    return trainer


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    treebank = make_treebank(2000, 500, arguments.seed)
    model = Sentiment()
    try:
        core.use(arguments.backend)
        make_trainer(model, treebank, arguments).run()
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    for tree in treebank[1][:4]:
        words, pairs, _, roots = plan([tree])
        with core.using_config("train", False), core.no_backprop_mode():
            found = int(model(words, pairs).array[roots[0]].argmax())
        print(f"{LABELS[found]:>8}: {tree}")
    log = json.loads((Path(arguments.out) / "log").read_text(encoding="utf-8"))
    accuracy = 100 * log[-1]["validation/main/roots"]
    print(f"Held-out sentences: {accuracy:.1f} % right. Results are in {arguments.out}/.")
    if arguments.check is not None and accuracy < arguments.check:
        return fail(f"expected at least {arguments.check} % of held-out sentences to be right")
    return 0


def fail(reason: object) -> int:
    print(f"train_sentiment: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
