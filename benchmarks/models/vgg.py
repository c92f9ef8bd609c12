"""VGG's pattern: 64-bn-relu-64-bn-relu-pool-128-bn-relu-pool-linear, convolutions of 3x3."""

from benchmarks import models

CHANNELS = ((3, 64), (64, 64), (64, 128))
PIXELS = (32**2, 32**2, 16**2)


def arrays(w):
    r, found = models.random(), {}
    for i, (n, m) in enumerate(CHANNELS, 1):
        found[f"conv{i}/W"] = models.weights((m, n, 3, 3), r)
        found |= models.normalization(f"bn{i}", m)
    return found | models.layer("out", (10, 128 * 8 * 8), r)


def batch(w):
    return models.images(w, 3, 32, 32, classes=10)


def work(w):
    first, *others = [9 * n * m * k for (n, m), k in zip(CHANNELS, PIXELS, strict=True)]
    products = first + sum(others) + 128 * 64 * 10
    passes = 1 if w.mode == "infer" else 3
    return {"flop": 2 * w.batch * (passes * products - (passes > 1) * first)}


def chainer(w, c):
    F, L = c.functions, c.links

    class VGG(c.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(3, 64, 3, pad=1, nobias=True)
                self.bn1 = L.BatchNormalization(64, eps=1e-5)
                self.conv2 = L.Convolution2D(64, 64, 3, pad=1, nobias=True)
                self.bn2 = L.BatchNormalization(64, eps=1e-5)
                self.conv3 = L.Convolution2D(64, 128, 3, pad=1, nobias=True)
                self.bn3 = L.BatchNormalization(128, eps=1e-5)
                self.out = L.Linear(128 * 8 * 8, 10)

        def forward(self, x):
            h = F.relu(self.bn1(self.conv1(x)))
            h = F.max_pooling_2d(F.relu(self.bn2(self.conv2(h))), 2)
            h = F.max_pooling_2d(F.relu(self.bn3(self.conv3(h))), 2)
            return self.out(h)

    return VGG()


def torch(w):
    from torch import nn
    from torch.nn import functional as F

    class VGG(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            self.conv2 = nn.Conv2d(64, 64, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(64)
            self.conv3 = nn.Conv2d(64, 128, 3, padding=1, bias=False)
            self.bn3 = nn.BatchNorm2d(128)
            self.out = nn.Linear(128 * 8 * 8, 10)

        def forward(self, x):
            h = F.relu(self.bn1(self.conv1(x)))
            h = F.max_pool2d(F.relu(self.bn2(self.conv2(h))), 2)
            h = F.max_pool2d(F.relu(self.bn3(self.conv3(h))), 2)
            return self.out(h.flatten(1))

    return VGG()


def jax(w, p, x):
    from jax.nn import relu

    from benchmarks.kits.jax import batch_normalization, convolution, linear, max_pooling

    def block(i, x):
        return relu(batch_normalization(p, f"bn{i}", convolution(p, f"conv{i}", x, pad=1)))

    h = max_pooling(block(2, block(1, x)))
    h = max_pooling(block(3, h))
    return linear(p, "out", h.reshape(len(h), -1))
