"""The residual network of 18 layers (He et al. 2016), `sizes`: classes, and the side of images."""

from benchmarks import models

STAGES = ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2))
BLOCKS = [block for n, m, stride in STAGES for block in ((n, m, stride), (m, m, 1))]
"""Channels in and out, and the stride, of each block of two convolutions."""


def arrays(w):
    r, found = models.random(), {}

    def add(path, number, n, m, side):
        found[f"{path}conv{number}/W"] = models.weights((m, n, side, side), r)
        found.update(models.normalization(f"{path}bn{number}", m))

    add("", 0, 3, 64, 7)
    for i, (n, m, stride) in enumerate(BLOCKS):
        add(f"blocks/{i}/", 1, n, m, 3)
        add(f"blocks/{i}/", 2, m, m, 3)
        if stride > 1:
            add(f"blocks/{i}/", 3, n, m, 1)
    return found | models.layer("out", (w.sizes[0], 512), r)


def batch(w):
    classes, side = w.sizes
    return models.images(w, 3, side, side, classes=classes)


def work(w):
    classes, side = w.sizes
    first = 49 * 3 * 64 * (side // 2) ** 2
    products, side = 512 * classes, side // 4
    for n, m, stride in BLOCKS:
        side //= stride
        products += (9 * n * m + 9 * m * m + n * m * (stride > 1)) * side**2
    passes = 1 if w.mode == "infer" else 3
    return {"flop": 2 * w.batch * (passes * (first + products) - (passes > 1) * first)}


def chainer(w, c):
    F, L = c.functions, c.links

    class Block(c.Chain):
        def __init__(self, n, m, stride):
            super().__init__()
            self.changes = stride > 1
            with self.init_scope():
                self.conv1 = L.Convolution2D(n, m, 3, stride, 1, nobias=True)
                self.bn1 = L.BatchNormalization(m, eps=1e-5)
                self.conv2 = L.Convolution2D(m, m, 3, 1, 1, nobias=True)
                self.bn2 = L.BatchNormalization(m, eps=1e-5)
                if self.changes:
                    self.conv3 = L.Convolution2D(n, m, 1, stride, nobias=True)
                    self.bn3 = L.BatchNormalization(m, eps=1e-5)

        def forward(self, x):
            h = F.relu(self.bn1(self.conv1(x)))
            h = self.bn2(self.conv2(h))
            return F.relu(h + (self.bn3(self.conv3(x)) if self.changes else x))

    class ResNet(c.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.conv0 = L.Convolution2D(3, 64, 7, 2, 3, nobias=True)
                self.bn0 = L.BatchNormalization(64, eps=1e-5)
                self.blocks = c.ChainList(*[Block(*sizes) for sizes in BLOCKS])
                self.out = L.Linear(512, w.sizes[0])

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

    class Block(nn.Module):
        def __init__(self, n, m, stride):
            super().__init__()
            self.changes = stride > 1
            self.conv1 = nn.Conv2d(n, m, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(m)
            self.conv2 = nn.Conv2d(m, m, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(m)
            if self.changes:
                self.conv3 = nn.Conv2d(n, m, 1, stride, bias=False)
                self.bn3 = nn.BatchNorm2d(m)

        def forward(self, x):
            h = F.relu(self.bn1(self.conv1(x)))
            h = self.bn2(self.conv2(h))
            return F.relu(h + (self.bn3(self.conv3(x)) if self.changes else x))

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv0 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn0 = nn.BatchNorm2d(64)
            self.blocks = nn.Sequential(*[Block(*sizes) for sizes in BLOCKS])
            self.out = nn.Linear(512, w.sizes[0])

        def forward(self, x):
            h = F.relu(self.bn0(self.conv0(x)))
            h = self.blocks(F.max_pool2d(h, 3, 2, 1))
            return self.out(h.mean((2, 3)))

    return ResNet()


def jax(w, p, x):
    from jax.nn import relu

    from benchmarks.kits.jax import batch_normalization, convolution, linear, max_pooling

    def normalized(path, number, x, stride=1, pad=1):
        y = convolution(p, f"{path}conv{number}", x, stride, pad)
        return batch_normalization(p, f"{path}bn{number}", y)

    h = max_pooling(relu(normalized("", 0, x, 2, 3)), 3, 2, 1)
    for i, (_, _, stride) in enumerate(BLOCKS):
        path = f"blocks/{i}/"
        y = normalized(path, 2, relu(normalized(path, 1, h, stride)))
        h = relu(y + (normalized(path, 3, h, stride, 0) if stride > 1 else h))
    return linear(p, "out", h.mean((2, 3)))
