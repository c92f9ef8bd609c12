"""Train a VGG or a residual network on photographs of 32x32 pixels: CIFAR-10 or CIFAR-100.

    python examples/cifar/train_cifar.py --synthetic       some minutes: shapes that are drawn here
    python examples/cifar/train_cifar.py --network vgg --width 64 --epoch 200 --backend cuda
    python examples/cifar/train_cifar.py --classes 100     CIFAR-100; without it, CIFAR-10
    python examples/cifar/train_cifar.py --resume          go on where a run was interrupted

CIFAR's files are yours (`core.datasets.get_cifar10` says where they belong). Images are shifted and
mirrored at random while it trains. `seen.png` shows held-out images and what they were taken for.
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

SHAPES = ["disc", "ring", "square", "frame", "triangle"]
SHAPES += ["cross", "half disc", "stripes", "checkers", "two dots"]
CIFAR10 = ["airplane", "automobile", "bird", "cat", "deer"]
CIFAR10 += ["dog", "frog", "horse", "ship", "truck"]


def convolution(n, m, stride=1, ksize=3):
    """A convolution without a bias, which the normalization behind it has."""
    weights = {"nobias": True, "initialW": core.initializers.HeNormal()}
    return core.Sequential(
        L.Convolution2D(n, m, ksize, stride, pad=ksize // 2, **weights), L.BatchNormalization(m)
    )


def vgg(classes, width):
    """Three times two convolutions, then half the size (Simonyan and Zisserman 2015), and dropout.

    Normalization and one dense layer in the place of three are of a later time.
    """
    layers, n = [centred], 3
    for m in (width, 2 * width, 4 * width):
        layers += [convolution(n, m), F.relu, convolution(m, m), F.relu, halved, L.Dropout(0.2)]
        n = m
    return core.Sequential(*layers, L.Linear(16 * n, classes))


def centred(x):
    return 4 * x - 2  # about as far from 0 as networks like it


def halved(x):
    return F.max_pooling_2d(x, 2)


class Block(core.Chain):
    """Two convolutions whose output is added to their input (He et al. 2016)."""

    def __init__(self, n, m, stride):
        super().__init__()
        with self.init_scope():
            self.first, self.second = convolution(n, m, stride), convolution(m, m)
            if n != m:
                self.beside = convolution(n, m, stride, ksize=1)

    def forward(self, x):
        y = self.second(F.relu(self.first(x)))
        return F.relu(y + (self.beside(x) if hasattr(self, "beside") else x))


def resnet(classes, width, blocks=2):
    """Three times `blocks` blocks, and the mean over each image."""
    layers, n = [centred, convolution(3, width), F.relu], width
    for m in (width, 2 * width, 4 * width):
        for _ in range(blocks):
            layers.append(Block(n, m, stride=1 if n == m else 2))
            n = m
    return core.Sequential(*layers, mean, L.Linear(n, classes))


def mean(x):
    return F.average(x, axis=(2, 3))


def make_shapes(n: int, seed: int):
    """Images (n, 3, 32, 32) from 0 to 1, each of one of the ten `SHAPES`, and their numbers."""
    rng = np.random.default_rng(seed)
    t = rng.permutation(n).astype(np.int32) % len(SHAPES)
    angle, radius = rng.uniform(-0.5, 0.5, (n, 1, 1)), rng.uniform(7, 12, (n, 1, 1))
    y, x = np.mgrid[:32, :32][:, None] - rng.uniform(12, 19, (2, n, 1, 1))
    u = (np.cos(angle) * x + np.sin(angle) * y) / radius
    v = (np.cos(angle) * y - np.sin(angle) * x) / radius
    round_, straight = np.hypot(u, v), np.maximum(abs(u), abs(v))
    masks = [round_ < 1, (round_ > 0.55) & (round_ < 1), straight < 0.8]
    masks += [(straight > 0.45) & (straight < 0.85), (v > -0.6) & (abs(u) < (0.9 - v) * 0.6)]
    masks += [(np.minimum(abs(u), abs(v)) < 0.25) & (straight < 1), (round_ < 1) & (v < 0.1)]
    masks += [(straight < 0.85) & (np.sin(7 * u) > 0)]
    masks += [(straight < 0.85) & (np.sin(3.7 * u) * np.sin(3.7 * v) > 0)]
    masks += [np.hypot(abs(u) - 0.55, v) < 0.4]
    mask = np.stack(masks)[t, np.arange(n)][:, None]
    ground, colour = rng.uniform(0, 0.4, (n, 3, 1, 1)), rng.uniform(0.5, 1, (n, 3, 1, 1))
    noise = rng.normal(0, 0.05, (n, 3, 32, 32))
    return np.clip(np.where(mask, colour, ground) + noise, 0, 1).astype("f"), t


def shifted_and_mirrored(example, by=3):
    image, label = example
    padded = np.pad(image, ((0, 0), (by, by), (by, by)), mode="reflect")
    top, left, mirror = np.random.randint((2 * by + 1, 2 * by + 1, 2))
    image = padded[:, top : top + 32, left : left + 32]
    return image[:, :, ::-1] if mirror else image, label


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=["vgg", "resnet"], default="resnet")
    parser.add_argument("--width", type=int, default=16, help="channels of the first convolution")
    parser.add_argument("--classes", type=int, choices=[10, 100], default=10, help="which CIFAR")
    parser.add_argument("--synthetic", action="store_true", help="ten shapes in place of CIFAR")
    parser.add_argument("--images", type=int, default=2000, help="of shapes, to learn from")
    parser.add_argument("--epoch", type=int, default=5, help="passes over the training set")
    parser.add_argument("--lr", type=float, default=3e-3, help="learning rate at the beginning")
    parser.add_argument("--batchsize", type=int, default=32, help="images in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order, shifts, shapes")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this, held out")
    return parser.parse_args()


def get_images(arguments):
    """Images to learn from, held-out ones, and the names of what they show."""
    if arguments.synthetic:
        train = datasets.TupleDataset(*make_shapes(arguments.images, 2 * arguments.seed))
        return train, datasets.TupleDataset(*make_shapes(1000, 2 * arguments.seed + 1)), SHAPES
    if arguments.classes == 10:
        return *datasets.get_cifar10(), CIFAR10
    return *datasets.get_cifar100(), [str(number) for number in range(100)]


def make_trainer(model, train, test, arguments):
    device = core.get_device(arguments.backend)
    train = datasets.TransformDataset(train, shifted_and_mirrored)
    batches = iterators.SerialIterator(train, arguments.batchsize)
    held_out = iterators.SerialIterator(test, 250, repeat=False, shuffle=False)
    optimizer = optimizers.AdamW(arguments.lr, weight_decay_rate=1e-4).setup(model)
    updater = training.updaters.StandardUpdater(batches, optimizer, device=device)
    trainer = training.Trainer(updater, (arguments.epoch, "epoch"), arguments.out)

    steps = arguments.epoch * len(train) // arguments.batchsize
    accuracy = ["main/accuracy", "validation/main/accuracy"]
    trainer.extend(extensions.CosineShift("alpha", steps))
    trainer.extend(extensions.Evaluator(held_out, model, device=device))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(["epoch", "main/loss", *accuracy, "elapsed_time"]))
    if extensions.PlotReport.available():
        trainer.extend(extensions.PlotReport(accuracy, "epoch", filename="accuracy.png"))
    trainer.extend(extensions.ProgressBar(update_interval=10))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume))
    return trainer


def look(model, test):
    """The number that the network gives each image, and whether it is right."""
    found = []
    with core.using_config("train", False), core.no_backprop_mode():
        for start in range(0, len(test), 250):
            x, _ = core.dataset.concat_examples(test[start : start + 250])
            scores = model.predictor(model.xp.asarray(x)).array
            found.append(core.cuda.to_cpu(scores).argmax(axis=1))
    found = np.concatenate(found)
    return found, found == np.array([label for _, label in test])


def draw_seen(test, found, right, names, path, rows=4, columns=10):
    """A few held-out images, those that were taken for something else first."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure

    order = np.argsort(right, kind="stable")
    mistakes = rows * columns // 2
    shown = np.concatenate([order[:mistakes], order[::-1][: rows * columns - mistakes]])
    figure = Figure(figsize=(columns * 0.95, rows * 1.15), layout="constrained")
    for axes, i in zip(figure.subplots(rows, columns).flat, shown, strict=True):
        image, label = test[i]
        axes.imshow(image.transpose(1, 2, 0))
        title = names[label] if right[i] else f"{names[label]}:\n{names[found[i]]}"
        axes.set_title(title, fontsize=7, color="#2B3440" if right[i] else "#B5442A")
        axes.set_axis_off()
    figure.savefig(path, dpi=150)


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    np.random.seed(arguments.seed)
    try:
        core.use(arguments.backend)
        train, test, names = get_images(arguments)
        make = {"vgg": vgg, "resnet": resnet}[arguments.network]
        model = L.Classifier(make(len(names), arguments.width))
        make_trainer(model, train, test, arguments).run()
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    found, right = look(model, test)
    draw_seen(test, found, right, names, f"{arguments.out}/seen.png")
    accuracy = 100 * float(right.mean())
    print(f"Held-out accuracy: {accuracy:.2f} %. Results are in {arguments.out}/.")
    if arguments.check is not None and accuracy < arguments.check:
        return fail(f"expected at least {arguments.check} % held-out accuracy")
    return 0


def fail(reason: object) -> int:
    print(f"train_cifar: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
