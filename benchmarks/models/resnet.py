"""Residual networks (He et al. 2016), `sizes`: layers (18 or 50), classes, and the side of images.

That of 50 layers has its strides in the convolutions of 3x3, as is usual today. Blocks begin near
the identity (Goyal et al. 2017 begin at it). Otherwise the first gradients of 50 layers depend on
the last bits of what is computed so much that frameworks could not be compared by their losses.
"""

from itertools import pairwise

import numpy as np

from benchmarks import models

STAGES = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}
"""How many blocks stand between changes of size."""

SHARE = 0.2
"""The deviation of what a block adds to its input, at first."""


def blocks(layers):
    """The convolutions of each block: channels in and out, the filter's side, and the stride.

    The last of a block whose input and output differ in shape takes one to the other.
    """
    found, before = [], 64
    for stage, number in enumerate(STAGES[layers]):
        width = 64 << stage
        for i in range(number):
            stride = 2 if stage and not i else 1
            if layers == 18:
                widths, sides, strides = (before, width, width), (3, 3), (stride, 1)
            else:
                widths, sides = (before, width, width, 4 * width), (1, 3, 1)
                strides = (1, stride, 1)
            path = [
                (n, m, side, step)
                for (n, m), side, step in zip(pairwise(widths), sides, strides, strict=True)
            ]
            changes = stride > 1 or before != widths[-1]
            found.append((path, [(before, widths[-1], 1, stride)] * changes))
            before = widths[-1]
    return found


def features(layers):
    """What the last block gives."""
    return blocks(layers)[-1][0][-1][1]


def arrays(w):
    layers, classes, _ = w.sizes
    r, found = models.random(), {}

    def add(path, number, n, m, side):
        found[f"{path}conv{number}/W"] = models.weights((m, n, side, side), r)
        found.update(models.normalization(f"{path}bn{number}", m))

    add("", 0, 3, 64, 7)
    for i, (path, around) in enumerate(blocks(layers)):
        for number, (n, m, side, _) in enumerate([*path, *around], 1):
            add(f"blocks/{i}/", number, n, m, side)
        found[f"blocks/{i}/bn{len(path)}/gamma"] *= np.float32(SHARE)
    return found | models.layer("out", (classes, features(layers)), r)


def batch(w):
    _, classes, side = w.sizes
    return models.images(w, 3, side, side, classes=classes)


def work(w):
    layers, classes, side = w.sizes
    first = 49 * 3 * 64 * (side // 2) ** 2
    products, side = features(layers) * classes, side // 4
    for path, around in blocks(layers):
        smaller = side // max(stride for *_, stride in path)
        for n, m, k, stride in [*path, *around]:
            place = smaller if stride > 1 or (n, m, k, stride) != path[0] else side
            products += k * k * n * m * place**2
        side = smaller
    passes = 1 if w.mode == "infer" else 3
    return {"flop": 2 * w.batch * (passes * (first + products) - (passes > 1) * first)}


def chainer(w, c):
    F, L = c.functions, c.links
    layers, classes, _ = w.sizes

    class Block(c.Chain):
        def __init__(self, path, around):
            super().__init__()
            self.length, self.changes = len(path), bool(around)
            with self.init_scope():
                for number, (n, m, side, stride) in enumerate([*path, *around], 1):
                    conv = L.Convolution2D(n, m, side, stride, side // 2, nobias=True)
                    setattr(self, f"conv{number}", conv)
                    setattr(self, f"bn{number}", L.BatchNormalization(m, eps=1e-5))

        def normalized(self, number, x):
            return getattr(self, f"bn{number}")(getattr(self, f"conv{number}")(x))

        def forward(self, x):
            h = x
            for number in range(1, self.length):
                h = F.relu(self.normalized(number, h))
            h = self.normalized(self.length, h)
            return F.relu(h + (self.normalized(self.length + 1, x) if self.changes else x))

    class ResNet(c.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.conv0 = L.Convolution2D(3, 64, 7, 2, 3, nobias=True)
                self.bn0 = L.BatchNormalization(64, eps=1e-5)
                self.blocks = c.ChainList(*[Block(*parts) for parts in blocks(layers)])
                self.out = L.Linear(features(layers), classes)

        def forward(self, x):
            h = F.relu(self.bn0(self.conv0(x)))
            h = F.max_pooling_2d(h, 3, 2, 1, cover_all=False)
            for block in self.blocks:
                h = block(h)
            return self.out(F.mean(h, axis=(2, 3)))

    return ResNet()


def torch(w):
    from torch import nn
    from torch.nn import functional as F

    layers, classes, _ = w.sizes

    class Block(nn.Module):
        def __init__(self, path, around):
            super().__init__()
            self.length, self.changes = len(path), bool(around)
            for number, (n, m, side, stride) in enumerate([*path, *around], 1):
                conv = nn.Conv2d(n, m, side, stride, side // 2, bias=False)
                setattr(self, f"conv{number}", conv)
                setattr(self, f"bn{number}", nn.BatchNorm2d(m))

        def normalized(self, number, x):
            return getattr(self, f"bn{number}")(getattr(self, f"conv{number}")(x))

        def forward(self, x):
            h = x
            for number in range(1, self.length):
                h = F.relu(self.normalized(number, h))
            h = self.normalized(self.length, h)
            return F.relu(h + (self.normalized(self.length + 1, x) if self.changes else x))

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv0 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn0 = nn.BatchNorm2d(64)
            self.blocks = nn.Sequential(*[Block(*parts) for parts in blocks(layers)])
            self.out = nn.Linear(features(layers), classes)

        def forward(self, x):
            h = F.relu(self.bn0(self.conv0(x)))
            h = self.blocks(F.max_pool2d(h, 3, 2, 1))
            return self.out(h.mean((2, 3)))

    return ResNet()


def jax(w, p, x):
    from jax.nn import relu

    from benchmarks.kits.jax import batch_normalization, convolution, linear, max_pooling

    def normalized(path, number, x, side, stride):
        y = convolution(p, f"{path}conv{number}", x, stride, side // 2)
        return batch_normalization(p, f"{path}bn{number}", y)

    h = max_pooling(relu(normalized("", 0, x, 7, 2)), 3, 2, 1)
    for i, (path, around) in enumerate(blocks(w.sizes[0])):
        y = h
        for number, (*_, side, stride) in enumerate(path, 1):
            y = normalized(f"blocks/{i}/", number, relu(y) if number > 1 else y, side, stride)
        for *_, side, stride in around:
            h = normalized(f"blocks/{i}/", len(path) + 1, h, side, stride)
        h = relu(y + h)
    return linear(p, "out", h.mean((2, 3)))
