"""Small datasets, in the places and forms in which Chainer's example programs look for them."""

import csv
from pathlib import Path

import numpy as np
from PIL import Image

WORDS = ("the", *"abcdefghijklmno")
TAGS = ("at", "nn", "vb", "jj", "in")


def prepare(root: Path, folder: Path) -> None:
    """Fill `root`, the root of datasets, and `folder`, in which the programs run."""
    rng = np.random.default_rng(0)
    _images(rng, root / "pfnet" / "chainer")
    _treebank(rng, root / "pfnet" / "chainer" / "ptb")
    _trees(rng, folder / "trees")
    _brown(rng, folder / "nltk_data" / "corpora" / "brown")
    _photographs(rng, folder)
    (folder / "babi.txt").write_text(_stories(rng))
    (folder / "source.txt").write_text("".join(_line(rng) for _ in range(24)))
    (folder / "target.txt").write_text("".join(_line(rng) for _ in range(24)))
    (folder / "vocabulary.txt").write_text("\n".join(WORDS))
    _mushrooms(rng, folder / "mushrooms.csv")


def _pixels(rng, labels, shape):
    x = rng.integers(0, 60, (len(labels), *shape), dtype=np.uint8)
    x.reshape(len(labels), -1)[np.arange(len(labels)), labels * 20] = 255
    return x


def _images(rng, root):
    """MNIST and CIFAR, as Chainer keeps them."""
    for dataset in ("mnist", "fashion-mnist", "cifar"):
        (root / dataset).mkdir(parents=True)
    for part, n in (("train", 300), ("test", 100)):
        y = np.arange(n, dtype=np.uint8) % 10
        for dataset in ("mnist", "fashion-mnist"):
            np.savez_compressed(root / dataset / f"{part}.npz", x=_pixels(rng, y, (784,)), y=y)
    y = np.arange(16) % 10
    x = _pixels(rng, y, (3072,))
    for classes in (10, 100):
        kept = root / "cifar" / f"cifar-{classes}.npz"
        np.savez_compressed(kept, train_x=x, train_y=y, test_x=x[:8], test_y=y[:8])


def _line(rng, end="\n"):
    return " ".join(rng.choice(WORDS, rng.integers(3, 8))) + end


def _treebank(rng, folder):
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join([*WORDS, "<eos>"]))
    for part, n in (("train", 400), ("valid", 60), ("test", 60)):
        words = rng.integers(0, len(WORDS) + 1, n, dtype=np.int32)
        words[:2] = 0, len(WORDS)
        np.savez_compressed(folder / f"{part}.npz", x=words)


def _tree(rng, words):
    label = rng.integers(0, 5)
    if len(words) == 1:
        return f"({label} {words[0]})"
    cut = rng.integers(1, len(words))
    return f"({label} {_tree(rng, words[:cut])} {_tree(rng, words[cut:])})"


def _trees(rng, folder):
    """Sentences whose every part has a sentiment, in brackets."""
    folder.mkdir()
    for part in ("train", "dev", "test"):
        trees = [_tree(rng, _line(rng).split()) for _ in range(12)]
        (folder / f"{part}.txt").write_text("\n".join(trees))


def _brown(rng, folder):
    """A corpus of tagged words, as NLTK keeps it."""
    folder.mkdir(parents=True)
    lines = (" ".join(f"{w}/{rng.choice(TAGS)}" for w in _line(rng).split()) for _ in range(60))
    (folder / "ca01").write_text("\n".join(lines) + "\n")
    (folder / "cats.txt").write_text("ca01 news\n")


def _stories(rng):
    places = ("garden", "kitchen", "hall")
    lines = []
    for _ in range(10):
        place = rng.choice(places)
        lines += [f"1 Mary went to the {place}.", f"2 John went to the {rng.choice(places)}."]
        lines += [f"3 Where is Mary?\t{place}\t1"]
    return "\n".join(lines) + "\n"


def _photographs(rng, folder):
    """Photographs of the size that programs for ImageNet want, and a list of them."""
    (folder / "photographs").mkdir()
    names = [f"photographs/{i}.png" for i in range(4)]
    for name in names:
        pixels = rng.integers(0, 256, (256, 256, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / name)
    (folder / "list.txt").write_text("".join(f"{name} {i}\n" for i, name in enumerate(names)))


def _mushrooms(rng, path):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["class", *(f"c{i}" for i in range(22))])
        rows.writerows(rng.choice(list("ep"), 23) for _ in range(200))
