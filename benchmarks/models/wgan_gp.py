"""A critic's step with a penalty on the norm of its gradients (Gulrajani et al. 2017)."""

from itertools import pairwise

from benchmarks import models
from benchmarks.models import mlp

PENALTY = 10
SLOPE = 0.2

arrays = mlp.arrays


def batch(w):
    """Real examples, generated ones, and how much of the former is in a mixture of both."""
    r = models.random()
    real, fake = (r.randn(w.batch, w.sizes[0]).astype("f") for _ in range(2))
    return real, fake, r.rand(w.batch, 1).astype("f")


def work(w):
    """Three products for real and generated examples, six for mixtures."""
    products = [n * m for n, m in pairwise(w.sizes)]
    return {"flop": 2 * w.batch * (12 * sum(products) - 3 * products[0])}


def chainer(w, c):
    F, L = c.functions, c.links

    class Critic(c.ChainList):
        def __init__(self):
            super().__init__(*[L.Linear(n, m) for n, m in pairwise(w.sizes)])

        def forward(self, x):
            *inner, last = self
            for link in inner:
                x = F.leaky_relu(link(x), SLOPE)
            return last(x)

        def loss(self, real, fake, share):
            mixed = c.Variable(share * real + (1 - share) * fake)
            (g,) = c.grad([F.sum(self(mixed))], [mixed], enable_double_backprop=True)
            norm = F.sqrt(F.sum(g * g, axis=1))
            penalty = F.mean((norm - 1) ** 2)
            return F.mean(self(fake)) - F.mean(self(real)) + PENALTY * penalty

    return Critic()


def torch(w):
    import torch
    from torch import nn

    class Critic(nn.Sequential):
        def __init__(self):
            layers = []
            for n, m in pairwise(w.sizes):
                layers += [nn.Linear(n, m), nn.LeakyReLU(SLOPE)]
            super().__init__(*layers[:-1])

        def loss(self, real, fake, share):
            mixed = (share * real + (1 - share) * fake).requires_grad_()
            (g,) = torch.autograd.grad(self(mixed).sum(), mixed, create_graph=True)
            norm = (g * g).sum(1).sqrt()
            penalty = ((norm - 1) ** 2).mean()
            return self(fake).mean() - self(real).mean() + PENALTY * penalty

    return Critic()


def jax(w, p, x):
    from jax import nn

    from benchmarks.kits.jax import linear

    last = len(w.sizes) - 2
    for i in range(last):
        x = nn.leaky_relu(linear(p, f"{i}", x), SLOPE)
    return linear(p, f"{last}", x)


def jax_loss(w, p, real, fake, share):
    from jax import grad
    from jax import numpy as jnp

    mixed = share * real + (1 - share) * fake
    g = grad(lambda x: jax(w, p, x).sum())(mixed)
    penalty = ((jnp.sqrt((g * g).sum(1)) - 1) ** 2).mean()
    return jax(w, p, fake).mean() - jax(w, p, real).mean() + PENALTY * penalty
