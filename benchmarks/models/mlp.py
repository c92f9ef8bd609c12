"""Linear layers with rectifiers between them; `sizes` are those of the layers."""

from itertools import pairwise

import numpy as np

from benchmarks import models


def arrays(w):
    r, found = models.random(), {}
    for i, (n, m) in enumerate(pairwise(w.sizes)):
        found |= models.layer(f"{i}", (m, n), r)
    return found


def batch(w):
    return models.images(w, w.sizes[0], classes=w.sizes[-1])


def work(w):
    products = [n * m for n, m in pairwise(w.sizes)]
    passes = {"train": 3, "infer": 1, "memory": 3}[w.mode]
    return {"flop": 2 * w.batch * (passes * sum(products) - (passes > 1) * products[0])}


def chainer(w, c):
    F, L = c.functions, c.links

    class MLP(c.ChainList):
        def __init__(self):
            super().__init__(*[L.Linear(n, m) for n, m in pairwise(w.sizes)])

        def forward(self, x):
            *inner, last = self
            for link in inner:
                x = F.relu(link(x))
            return last(x)

    return MLP()


def torch(w):
    from torch import nn

    layers = []
    for n, m in pairwise(w.sizes):
        layers += [nn.Linear(n, m), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def jax(w, p, x):
    from jax import nn

    last = len(w.sizes) - 2
    for i in range(last + 1):
        x = x @ p[f"{i}/W"].T + p[f"{i}/b"]
        x = x if i == last else nn.relu(x)
    return x


def numpy(w, p, kit):
    """Forward and backward with every temporary reused that NumPy can reuse."""
    last = len(w.sizes) - 2
    names = range(last + 1)

    def forward(x):
        layers = [x]
        for i in names:
            x = x @ p[f"{i}/W"].T
            x += p[f"{i}/b"]
            if i != last:
                np.maximum(x, 0, out=x)
            layers.append(x)
        return layers

    def gradients(x, t):
        layers = forward(x)
        loss, g = kit.cross_entropy(layers.pop(), t)
        found = {}
        for i in reversed(names):
            x = layers.pop()
            found[f"{i}/W"], found[f"{i}/b"] = g.T @ x, g.sum(0)
            if i:
                g = g @ p[f"{i}/W"]
                g *= x > 0
        return loss, found

    return kit.Model(lambda x: forward(x)[-1], gradients)
