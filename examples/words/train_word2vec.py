"""Learn vectors of words from the company they keep: skip-gram and CBoW, with three losses.

    python examples/words/train_word2vec.py                            a minute, on two cores
    python examples/words/train_word2vec.py --model cbow --loss black-out
    python examples/words/train_word2vec.py --resume                   go on where it stopped

Skip-gram tells from a word those around it, CBoW a word from those around it (Mikolov et al.
2013, arXiv:1301.3781). None of the losses computes the scores of all words. The text is that of
Python's own help topics, so nothing is downloaded. In the end, the nearest of some words are
printed, and `words.png` shows them in the plane in which they differ most, if Matplotlib is
installed. The figure that is checked: how often a word of held-out text is nearer to the word that
follows it than to a word from anywhere.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.errors import CoreError
from core.training import extensions

SHOWN = ("class", "list", "integer", "method", "if", "returns", "two", "True")


def make_loss(name, units, counts):
    if name == "negative":
        return L.NegativeSampling(units, counts, sample_size=5)
    if name == "black-out":
        return L.BlackOut(units, counts, sample_size=20)
    tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(dict(enumerate(counts)))
    return L.BinaryHierarchicalSoftmax(units, tree)


class SkipGram(core.Chain):
    """The words around (n, 2 window), each from the word in the middle (n,)."""

    def __init__(self, counts, units, loss):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(len(counts), units, core.initializers.Uniform(1 / units))
            self.score = make_loss(loss, units, counts)
        self.averages = loss == "black-out"  # which returns a mean, the others a sum

    def forward(self, middle, around):
        vectors, words = self.pairs(middle, around)
        loss = self.score(vectors, words)
        loss = loss if self.averages else loss / len(words)
        core.report({"loss": loss}, self)
        return loss

    def pairs(self, middle, around):
        return self.embed(self.xp.repeat(middle, around.shape[1])), around.reshape(-1)


class ContinuousBagOfWords(SkipGram):
    """The word in the middle, from the mean of those around it."""

    def pairs(self, middle, around):
        return F.mean(self.embed(around), axis=1), middle


class Windows(core.dataset.DatasetMixin):
    """Each word of a text, and the `window` words before and after it."""

    def __init__(self, text, window):
        self.text, self.window = text, window
        self.offsets = np.r_[-window:0, 1 : window + 1]

    def __len__(self):
        return len(self.text) - 2 * self.window

    def get_example(self, i):
        place = i + self.window
        return self.text[place], self.text[place + self.offsets]


MODELS = {"skip-gram": SkipGram, "cbow": ContinuousBagOfWords}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=MODELS, default="skip-gram", help="what is told by what")
    losses = ("negative", "hierarchical", "black-out")
    parser.add_argument("--loss", choices=losses, default="negative", help="in place of a softmax")
    parser.add_argument("--epoch", type=int, default=5, help="passes over the text")
    parser.add_argument("--batchsize", type=int, default=256, help="words in a batch")
    parser.add_argument("--units", type=int, default=64, help="numbers in a vector")
    parser.add_argument("--window", type=int, default=4, help="words before and after")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order and samples")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this share")
    return parser.parse_args()


def make_trainer(model, text, arguments):
    batches = iterators.SerialIterator(Windows(text, arguments.window), arguments.batchsize)
    optimizer = optimizers.Adam(alpha=2e-3).setup(model)
    device = core.get_device(arguments.backend)
    updater = training.updaters.StandardUpdater(batches, optimizer, device=device)
    trainer = training.Trainer(updater, (arguments.epoch, "epoch"), arguments.out)
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(["epoch", "main/loss", "elapsed_time"]))
    trainer.extend(extensions.ProgressBar(update_interval=50))
    newest = extensions.snapshot(n_retains=1, autoload=arguments.resume)
    trainer.extend(newest, trigger=(1, "epoch"))
    return trainer


def directions(model):
    """The vectors of all words, each of length 1."""
    vectors = core.cuda.to_cpu(model.embed.W.array)
    vectors = vectors - vectors.mean(axis=0)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def told_apart(vectors, text, seed):
    """How often a word is nearer to its neighbour than to a word from anywhere, in percent."""
    words, beside = text[:-1], text[1:]
    others = np.random.default_rng(seed).permutation(beside)
    near, far = ((vectors[words] * vectors[of]).sum(axis=1) for of in (beside, others))
    return 100 * float((near > far).mean() + (near == far).mean() / 2)


def nearest(vectors, vocabulary, n=6):
    """The numbers of some words, each before those of the words whose vectors are nearest to it."""
    shown = [vocabulary[word] for word in SHOWN if word in vocabulary]
    return [np.argsort(-vectors @ vectors[number])[: n + 1].tolist() for number in shown]


def draw(vectors, groups, names, path):
    """Each group of words in a colour, in the plane of the two largest principal components."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure

    shown = vectors[sum(groups, [])]
    mean = shown.mean(axis=0)
    plane = np.linalg.svd(shown - mean)[2][:2]
    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    for k, group in enumerate(groups):
        x, y = plane @ (vectors[group] - mean).T
        axes.scatter(x, y, s=8, color=f"C{k}")
        for at, number in zip(zip(x, y, strict=True), group, strict=True):
            weight = "bold" if number == group[0] else "normal"
            axes.annotate(names[number], at, color=f"C{k}", fontsize=8, weight=weight)
    axes.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=150)


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    try:
        core.use(arguments.backend)
        text, _, held_out = datasets.get_topics_words()
        vocabulary = datasets.get_topics_words_vocabulary()
        counts = np.bincount(text, minlength=len(vocabulary)).clip(1).tolist()
        model = MODELS[arguments.model](counts, arguments.units, arguments.loss)
        make_trainer(model, text, arguments).run()
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    vectors = directions(model)
    names, groups = list(vocabulary), nearest(vectors, vocabulary)
    for word, *others in groups:
        print(f"{names[word]:>10}: {', '.join(names[i] for i in others)}")
    draw(vectors, groups, names, f"{arguments.out}/words.png")
    share = told_apart(vectors, held_out, arguments.seed)
    print(f"Neighbours told from others: {share:.1f} %. Results are in {arguments.out}/.")
    if arguments.check is not None and share < arguments.check:
        return fail(f"expected at least {arguments.check} % to be told apart")
    return 0


def fail(reason: object) -> int:
    print(f"train_word2vec: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
