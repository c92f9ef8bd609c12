"""LeNet with rectifiers: convolutions of 20 and 50 filters of 5x5, each pooled, and 500 units."""

import numpy as np

from benchmarks import models


def arrays(w):
    r = models.random()
    return {
        **models.layer("conv1", (20, 1, 5, 5), r),
        **models.layer("conv2", (50, 20, 5, 5), r),
        **models.layer("l1", (500, 800), r),
        **models.layer("l2", (10, 500), r),
    }


def batch(w):
    return models.images(w, 1, 28, 28, classes=10)


def work(w):
    first, others = 20 * 25 * 24**2, 50 * 500 * 8**2 + 800 * 500 + 500 * 10
    passes = 1 if w.mode == "infer" else 3
    return {"flop": 2 * w.batch * (passes * (first + others) - (passes > 1) * first)}


def chainer(w, c):
    F, L = c.functions, c.links

    class LeNet(c.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(1, 20, 5)
                self.conv2 = L.Convolution2D(20, 50, 5)
                self.l1 = L.Linear(800, 500)
                self.l2 = L.Linear(500, 10)

        def forward(self, x):
            h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
            h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
            return self.l2(F.relu(self.l1(h)))

    return LeNet()


def torch(w):
    from torch import nn
    from torch.nn import functional as F

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 20, 5)
            self.conv2 = nn.Conv2d(20, 50, 5)
            self.l1 = nn.Linear(800, 500)
            self.l2 = nn.Linear(500, 10)

        def forward(self, x):
            h = F.max_pool2d(F.relu(self.conv1(x)), 2)
            h = F.max_pool2d(F.relu(self.conv2(h)), 2)
            return self.l2(F.relu(self.l1(h.flatten(1))))

    return LeNet()


def jax(w, p, x):
    from jax.nn import relu

    from benchmarks.kits.jax import convolution, linear, max_pooling

    h = max_pooling(relu(convolution(p, "conv1", x)))
    h = max_pooling(relu(convolution(p, "conv2", h)))
    return linear(p, "l2", relu(linear(p, "l1", h.reshape(len(h), -1))))


def numpy(w, p, kit):
    """Convolutions as one product with windows, pooling by comparing four views."""

    def forward(x):
        columns1 = windows(x)
        y1 = filtered(p, "conv1", columns1)
        h1 = pooled(y1)
        columns2 = windows(h1)
        y2 = filtered(p, "conv2", columns2)
        h2 = pooled(y2)
        flat = h2.reshape(len(x), -1)
        h3 = flat @ p["l1/W"].T
        h3 += p["l1/b"]
        np.maximum(h3, 0, out=h3)
        out = h3 @ p["l2/W"].T
        out += p["l2/b"]
        return out, (columns1, y1, h1, columns2, y2, h2, flat, h3)

    def gradients(x, t):
        out, (columns1, y1, h1, columns2, y2, h2, flat, h3) = forward(x)
        loss, g = kit.cross_entropy(out, t)
        found = {"l2/W": g.T @ h3, "l2/b": g.sum(0)}
        g = g @ p["l2/W"]
        g *= h3 > 0
        found["l1/W"], found["l1/b"] = g.T @ flat, g.sum(0)
        g = unpooled(y2, h2, (g @ p["l1/W"]).reshape(h2.shape))
        columns = convolved_gradients(found, "conv2", g, columns2)
        g = scattered(np.matmul(p["conv2/W"].reshape(50, -1).T, columns), h1.shape)
        convolved_gradients(found, "conv1", unpooled(y1, h1, g), columns1)
        return loss, found

    return kit.Model(lambda x: forward(x)[0], gradients)


def windows(x):
    """(n, c, h, w) as (n, c * 25, (h - 4) * (w - 4)): a column for each place of the filter."""
    n, c, height, width = x.shape
    found = np.lib.stride_tricks.sliding_window_view(x, (5, 5), (2, 3))
    return found.transpose(0, 1, 4, 5, 2, 3).reshape(n, 25 * c, (height - 4) * (width - 4))


def filtered(p, name, columns):
    """Convolve, add the bias, rectify."""
    W, b = p[f"{name}/W"], p[f"{name}/b"]
    y = np.matmul(W.reshape(len(W), -1), columns)
    y += b[:, None]
    np.maximum(y, 0, out=y)
    side = round(y.shape[2] ** 0.5)
    return y.reshape(len(y), len(W), side, side)


def quarters(y):
    return [y[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)]


def pooled(y):
    a, b, c, d = quarters(y)
    h = np.maximum(a, b)
    np.maximum(h, c, out=h)
    return np.maximum(h, d, out=h)


def unpooled(y, h, g):
    """The gradient at the first largest of each four, where the rectifier let it pass."""
    found, left = np.zeros_like(y), h > 0
    for source, target in zip(quarters(y), quarters(found), strict=True):
        chosen = (source == h) & left
        np.multiply(g, chosen, out=target)
        left &= ~chosen
    return found


def convolved_gradients(found, name, g, columns):
    """Keep the gradients of a filter and its bias; return those of its output as columns."""
    g = g.reshape(*g.shape[:2], -1)
    m, k = g.shape[1], columns.shape[1]
    side = 5
    W = np.tensordot(g, columns, ((0, 2), (0, 2)))
    found[f"{name}/W"] = W.reshape(m, k // side**2, side, side)
    found[f"{name}/b"] = g.sum((0, 2))
    return g


def scattered(columns, shape):
    """Add the columns of each place of the filter to where they were read."""
    n, c, height, width = shape
    columns = columns.reshape(n, c, 5, 5, height - 4, width - 4)
    found = np.zeros(shape, "f")
    for i in range(5):
        for j in range(5):
            found[:, :, i : i + height - 4, j : j + width - 4] += columns[:, :, i, j]
    return found
