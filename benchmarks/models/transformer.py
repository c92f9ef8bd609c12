"""A language model of causal attention, normalized first; `sizes`: words, width, blocks, steps."""

import numpy as np

from benchmarks import models

HEADS = 4
EPS = 1e-6


def arrays(w):
    words, width, blocks, steps = w.sizes
    r = models.random()
    found = {
        "embed/W": 0.1 * r.randn(words, width).astype("f"),
        "place/W": 0.1 * r.randn(steps, width).astype("f"),
    }
    for i in range(blocks):
        found |= models.normalization(f"blocks/{i}/norm1", width)
        for name in ("query", "key", "value", "output"):
            found |= models.layer(f"blocks/{i}/attention/{name}", (width, width), r)
        found |= models.normalization(f"blocks/{i}/norm2", width)
        found |= models.layer(f"blocks/{i}/inner", (4 * width, width), r)
        found |= models.layer(f"blocks/{i}/outer", (width, 4 * width), r)
    found |= models.normalization("norm", width)
    return found | models.layer("out", (words, width), r)


def batch(w):
    words, _, _, steps = w.sizes
    text = models.random().randint(0, words, (w.batch, steps + 1)).astype("i4")
    return np.ascontiguousarray(text[:, :-1]), np.ascontiguousarray(text[:, 1:])


def work(w):
    """Half of the scores of attention are not needed, and not counted."""
    words, width, blocks, steps = w.sizes
    products = blocks * (12 * width**2 + steps * width) + words * width
    return {"flop": 3 * 2 * w.batch * steps * products}


def plugrad(w, c):
    F, L = c.functions, c.links
    words, width, blocks, steps = w.sizes

    class Model(c.Chain):
        def __init__(self):
            super().__init__()
            self.add_persistent("places", np.arange(steps))
            with self.init_scope():
                self.embed = L.EmbedID(words, width)
                self.place = L.EmbedID(steps, width)
                self.blocks = c.Sequential(
                    *[L.TransformerBlock(width, HEADS, causal=True) for _ in range(blocks)]
                )
                self.norm = L.LayerNormalization(width, eps=EPS)
                self.out = L.Linear(width, words)

        def loss(self, x, t):
            h = self.blocks(self.embed(x) + self.place(self.places))
            y = self.out(self.norm(h), n_batch_axes=2)
            return F.softmax_cross_entropy(y.reshape((-1, words)), t.ravel())

    return Model()


def chainer(w, c):
    """Attention, GELU and normalization by position, written with what Chainer has."""
    F, L = c.functions, c.links
    words, width, blocks, steps = w.sizes
    places = np.arange(steps)
    hidden = np.where(np.tri(steps, dtype=bool), 0, -1e9).astype("f")

    def normalized(link, x):
        return link(x.reshape((-1, width))).reshape(x.shape)

    class Attention(c.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.query = L.Linear(width, width)
                self.key = L.Linear(width, width)
                self.value = L.Linear(width, width)
                self.output = L.Linear(width, width)

        def forward(self, x):
            q, k, v = (self.heads(link, x) for link in (self.query, self.key, self.value))
            scores = F.matmul(q, k, transb=True) * (HEADS / width) ** 0.5
            y = F.matmul(F.softmax(scores + F.broadcast_to(hidden, scores.shape), axis=3), v)
            return self.output(F.transpose(y, (0, 2, 1, 3)).reshape(x.shape), n_batch_axes=2)

        def heads(self, link, x):
            y = link(x, n_batch_axes=2).reshape((*x.shape[:2], HEADS, -1))
            return F.transpose(y, (0, 2, 1, 3))

    class Block(c.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.norm1 = L.LayerNormalization(width, eps=EPS)
                self.attention = Attention()
                self.norm2 = L.LayerNormalization(width, eps=EPS)
                self.inner = L.Linear(width, 4 * width)
                self.outer = L.Linear(4 * width, width)

        def forward(self, x):
            x = x + self.attention(normalized(self.norm1, x))
            h = self.inner(normalized(self.norm2, x), n_batch_axes=2)
            h = 0.5 * h * (1 + F.erf(h * 0.5**0.5))
            return x + self.outer(h, n_batch_axes=2)

    class Model(c.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.embed = L.EmbedID(words, width)
                self.place = L.EmbedID(steps, width)
                self.blocks = c.ChainList(*[Block() for _ in range(blocks)])
                self.norm = L.LayerNormalization(width, eps=EPS)
                self.out = L.Linear(width, words)

        def loss(self, x, t):
            h = self.embed(x)
            h = h + F.broadcast_to(self.place(places), h.shape)
            for block in self.blocks:
                h = block(h)
            y = self.out(normalized(self.norm, h).reshape((-1, width)))
            return F.softmax_cross_entropy(y, t.ravel())

    return Model()


def torch(w):
    """Queries, keys and values are one product, as PyTorch's own attention has it."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    words, width, blocks, steps = w.sizes
    places = torch.arange(steps)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.together = nn.Linear(width, 3 * width)
            self.output = nn.Linear(width, width)

        def forward(self, x):
            y = self.together(x).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(*y, is_causal=True)
            return self.output(y.transpose(1, 2).flatten(2))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1 = nn.LayerNorm(width, eps=EPS)
            self.attention = Attention()
            self.norm2 = nn.LayerNorm(width, eps=EPS)
            self.inner = nn.Linear(width, 4 * width)
            self.outer = nn.Linear(4 * width, width)

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.outer(F.gelu(self.inner(self.norm2(x))))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(words, width)
            self.place = nn.Embedding(steps, width)
            self.blocks = nn.Sequential(*[Block() for _ in range(blocks)])
            self.norm = nn.LayerNorm(width, eps=EPS)
            self.out = nn.Linear(width, words)

        def loss(self, x, t):
            h = self.blocks(self.embed(x) + self.place(places))
            return F.cross_entropy(self.out(self.norm(h)).flatten(0, 1), t.flatten())

        def renamed(self, arrays):
            """The initial values by the names they have here."""
            found = dict(arrays)
            for i in range(blocks):
                path = f"blocks/{i}/attention/"
                for kind in "Wb":
                    parts = [found.pop(f"{path}{n}/{kind}") for n in ("query", "key", "value")]
                    found[f"{path}together/{kind}"] = np.concatenate(parts)
            return found

    return Model()


def jax(w, p, x):
    from jax import nn
    from jax import numpy as jnp

    from benchmarks.kits.jax import layer_normalization, linear

    words, width, blocks, steps = w.sizes
    h = p["embed/W"][x] + p["place/W"]
    for i in range(blocks):
        path = f"blocks/{i}/"
        y = layer_normalization(p, f"{path}norm1", h, EPS)
        q, k, v = (
            linear(p, f"{path}attention/{n}", y).reshape(*x.shape, HEADS, -1)
            for n in ("query", "key", "value")
        )
        scores = jnp.einsum("nqhd,nkhd->nhqk", q, k) * (HEADS / width) ** 0.5
        scores = jnp.where(jnp.tri(steps, dtype=bool), scores, -jnp.inf)
        y = jnp.einsum("nhqk,nkhd->nqhd", nn.softmax(scores), v).reshape(h.shape)
        h = h + linear(p, f"{path}attention/output", y)
        y = linear(p, f"{path}inner", layer_normalization(p, f"{path}norm2", h, EPS))
        h = h + linear(p, f"{path}outer", nn.gelu(y, approximate=False))
    return linear(p, "out", layer_normalization(p, "norm", h, EPS)).reshape(-1, words)
