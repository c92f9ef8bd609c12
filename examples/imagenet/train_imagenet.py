r"""Train on a folder of photographs, or a list of them, read and cropped by several processes.

    python examples/imagenet/train_imagenet.py --synthetic       textures that are drawn here
    python examples/imagenet/train_imagenet.py --train ilsvrc/train --val ilsvrc/val \
        --network resnet50 --size 224 --batchsize 64 --epoch 90 --processes 16 --backend cuda
    python examples/imagenet/train_imagenet.py --resume          go on where a run was interrupted

`--train` and `--val` are folders with a folder of images for each class, or text files with a path
and the number of a class in each line. Images have to be as large as `--size` at least; shrink them
once beforehand, to a shorter side of 256 for a size of 224. What is read is a piece of each at a
random place, mirrored or not; of held-out images, the middle. Needs Pillow (`plugrad[image]`).
`guesses.png` shows held-out images with the classes that the network deems likeliest.
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
from core import datasets, iterators, optimizers, training
from core.errors import CoreError
from core.training import extensions

TEXTURES = ["lines", "columns", "rings", "checkers", "dots", "crosses", "waves", "rays"]
KNOWN = {"resnet50": "fc6", "vgg16": "fc8", "googlenet": "loss3_fc"}  # and their last layers


class Pieces(core.dataset.DatasetMixin):
    """Pairs of a piece of an image, (3, size, size) from about -2 to 2, and its class."""

    def __init__(self, pairs, root, size, at_random):
        self.images = datasets.LabeledImageDataset(pairs, root)
        self.size, self.at_random = size, at_random

    def __len__(self):
        return len(self.images)

    def get_example(self, i):
        image, label = self.images[i]
        room = np.array(image.shape[1:]) - self.size
        if min(room) < 0:
            raise ValueError(f"expected images of at least {self.size} pixels, got {image.shape}")
        top, left = np.random.randint(room + 1) if self.at_random else room // 2
        image = np.broadcast_to(image, (3, *image.shape[1:])) if len(image) == 1 else image[:3]
        image = image[:, top : top + self.size, left : left + self.size]
        if self.at_random and np.random.randint(2):
            image = image[:, :, ::-1]
        return (image - 120) / 60, label


class Small(core.Chain):
    """Four convolutions that halve the image, and the mean of what they see in it."""

    def __init__(self, classes, width=24):
        super().__init__()
        sizes = [3, width, 2 * width, 2 * width, 4 * width]
        layers = []
        for n, m in zip(sizes[:-1], sizes[1:], strict=True):
            convolution = L.Convolution2D(n, m, ksize=5, stride=2, pad=2, nobias=True)
            layers += [convolution, L.BatchNormalization(m), F.relu]
        with self.init_scope():
            self.layers = core.Sequential(*layers)
            self.score = L.Linear(sizes[-1], classes)

    def forward(self, x):
        return self.score(F.average(self.layers(x), axis=(2, 3)))


class Known(core.Chain):
    """A network of `core.links`, with random weights: scores of 1000 classes, for size 224."""

    def __init__(self, name):
        super().__init__()
        links = {"resnet50": L.ResNet50Layers, "vgg16": L.VGG16Layers, "googlenet": L.GoogLeNet}
        self.last = KNOWN[name]
        with self.init_scope():
            self.network = links[name](pretrained_model=None)

    def forward(self, x):
        return self.network(x, layers=[self.last])[self.last]


def draw_textures(folder: Path, n: int, seed: int, side: int = 56) -> Path:
    """Fill a folder of each texture with `n` JPEG files, the same for a seed; gives `folder`."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    for name in TEXTURES:
        (folder / name).mkdir(parents=True, exist_ok=True)
        for i in range(n):
            y, x = np.mgrid[:side, :side] / rng.uniform(2, 4) + rng.uniform(-9, 0, (2, 1, 1))
            value = {
                "lines": np.sin(y),
                "columns": np.sin(x),
                "rings": np.sin(np.hypot(x, y)),
                "checkers": np.sign(np.sin(x) * np.sin(y)),
                "dots": 2 * (np.sin(x) * np.sin(y) > 0.6) - 1,
                "crosses": np.maximum(np.sin(x), np.sin(y)) ** 3,
                "waves": np.sin(y + 2 * np.sin(x)),
                "rays": np.sin(9 * np.arctan2(y, x)),
            }[name]
            dark, bright = rng.uniform((0, 120), (120, 255), (3, 2)).T
            image = dark + (value[..., None] + 1) / 2 * (bright - dark)
            image += rng.normal(0, 12, image.shape)
            Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)).save(
                folder / name / f"{i}.jpg"
            )
    return folder


def listed(path: Path):
    """The pairs (path, class) below a folder or in a file, what paths start from, the names."""
    if not path.is_dir():
        return path, path.parent, None
    names = sorted(each.name for each in path.iterdir() if each.is_dir())
    pairs = [
        (str(file.relative_to(path)), number)
        for number, name in enumerate(names)
        for file in sorted((path / name).iterdir())
    ]
    return pairs, path, names


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", type=Path, help="folder or list of images to learn from")
    parser.add_argument("--val", type=Path, help="folder or list of held-out images")
    parser.add_argument("--synthetic", action="store_true", help="textures, drawn into --out")
    parser.add_argument("--images", type=int, default=100, help="of each texture, to learn from")
    parser.add_argument("--network", choices=["small", *KNOWN], default="small")
    parser.add_argument("--classes", type=int, default=1000, help="of small, where there are lists")
    parser.add_argument("--size", type=int, default=48, help="pixels of the piece that is seen")
    parser.add_argument("--processes", type=int, default=2, help="that read images")
    parser.add_argument("--epoch", type=int, default=8, help="passes over the training set")
    parser.add_argument("--batchsize", type=int, default=32, help="images in a batch")
    parser.add_argument("--lr", type=float, default=3e-3, help="learning rate at the beginning")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, order and pieces")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail below this, held out")
    return parser.parse_args()


def get_images(arguments):
    """Pieces to learn from, held-out ones, and the names of the classes, if they have any."""
    train, val = arguments.train, arguments.val
    if arguments.synthetic:
        drawn, seed = Path(arguments.out) / "images", 2 * arguments.seed
        train = draw_textures(drawn / "train", arguments.images, seed)
        val = draw_textures(drawn / "val", 24, seed + 1)
    if train is None or val is None:
        raise ValueError("expected --train and --val, folders or lists of images; or --synthetic")
    *train, names = listed(train)
    *val, _ = listed(val)
    return Pieces(*train, arguments.size, True), Pieces(*val, arguments.size, False), names


def make_trainer(model, train, val, arguments):
    device = core.get_device(arguments.backend)
    reading = {"n_processes": arguments.processes, "n_prefetch": 2}
    batches = iterators.MultiprocessIterator(train, arguments.batchsize, **reading)
    held_out = iterators.MultiprocessIterator(
        val, arguments.batchsize, repeat=False, shuffle=False, **reading
    )
    optimizer = optimizers.AdamW(arguments.lr, weight_decay_rate=1e-4).setup(model)
    updater = training.updaters.StandardUpdater(batches, optimizer, device=device)
    trainer = training.Trainer(updater, (arguments.epoch, "epoch"), arguments.out)

    accuracy = ["main/accuracy", "validation/main/accuracy"]
    trainer.extend(
        extensions.CosineShift("alpha", arguments.epoch * len(train) // arguments.batchsize)
    )
    trainer.extend(extensions.Evaluator(held_out, model, device=device))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(["epoch", "main/loss", *accuracy, "elapsed_time"]))
    if extensions.PlotReport.available():
        trainer.extend(extensions.PlotReport(accuracy, "epoch", filename="accuracy.png"))
    trainer.extend(extensions.ProgressBar(update_interval=10))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume))
    return trainer


def draw_guesses(model, val, names, path, columns=6, rows=2, best=4):
    """Held-out images, each above the probabilities of the likeliest classes."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure

    shown = [val[i] for i in np.linspace(0, len(val) - 1, columns * rows).astype(int)]
    x, t = core.dataset.concat_examples(shown)
    with core.using_config("train", False), core.no_backprop_mode():
        scores = model.predictor(model.xp.asarray(x))
        probabilities = core.cuda.to_cpu(F.softmax(scores).array)
    figure = Figure(figsize=(1.5 * columns, 2.4 * rows), layout="constrained")
    grid = figure.subplots(2 * rows, columns, height_ratios=[3, 2] * rows)
    for i, (image, right) in enumerate(zip(x, t, strict=True)):
        row, column = 2 * (i // columns), i % columns
        grid[row, column].imshow(np.clip(image * 60 + 120, 0, 255).astype(int).transpose(1, 2, 0))
        grid[row, column].set_axis_off()
        likeliest = np.argsort(-probabilities[i])[:best]
        bars = grid[row + 1, column]
        colours = ["#9CC0EC" if number == right else "#F0C9AE" for number in likeliest]
        bars.barh(range(len(likeliest)), probabilities[i][likeliest], color=colours)
        for place, number in enumerate(likeliest):
            bars.text(0.03, place, names[number] if names else number, va="center", fontsize=8)
        bars.set(xlim=(0, 1), xticks=[], yticks=[])
        bars.invert_yaxis()
        bars.spines[:].set_visible(False)
    figure.savefig(path, dpi=150)


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    try:
        core.use(arguments.backend)
        train, val, names = get_images(arguments)
        small = arguments.network == "small"
        classes = len(names) if names else arguments.classes
        model = L.Classifier(Small(classes) if small else Known(arguments.network))
        make_trainer(model, train, val, arguments).run()
    except ModuleNotFoundError as error:
        return fail(f"{error}: run `pip install 'plugrad[image]'`")
    except (CoreError, ImportError, OSError, ValueError) as error:
        return fail(error)
    draw_guesses(model, val, names, f"{arguments.out}/guesses.png")
    log = json.loads((Path(arguments.out) / "log").read_text(encoding="utf-8"))
    accuracy = 100 * log[-1]["validation/main/accuracy"]
    print(f"Held-out accuracy: {accuracy:.2f} %. Results are in {arguments.out}/.")
    if arguments.check is not None and accuracy < arguments.check:
        return fail(f"expected at least {arguments.check} % held-out accuracy")
    return 0


def fail(reason: object) -> int:
    print(f"train_imagenet: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
