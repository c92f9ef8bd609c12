"""A language model of two LSTM layers, whole sequences at once.

`sizes` are words, units, and the steps of a sequence. The gates of the initial weights stand in the
order input, forget, cell, output. PyTorch and links over sequences have two biases, of which the
sum counts.
"""

import numpy as np

from benchmarks import models

LAYERS = (0, 1)


def arrays(w):
    words, units, _ = w.sizes
    r = models.random()
    found = {"embed/W": r.randn(words, units).astype("f")}
    for i in LAYERS:
        for kind in "xh":
            found[f"{kind}{i}"] = models.weights((4 * units, units), r)
        found[f"b{i}"] = np.zeros(4 * units, "f")
    return found | models.layer("out", (words, units), r)


def batch(w):
    words, _, steps = w.sizes
    text = models.random().randint(0, words, (w.batch, steps + 1)).astype("i4")
    return np.ascontiguousarray(text[:, :-1]), np.ascontiguousarray(text[:, 1:])


def work(w):
    words, units, steps = w.sizes
    products = len(LAYERS) * 8 * units**2 + words * units
    return {"flop": 3 * 2 * w.batch * steps * products}


def chainer(w, c):
    F, L = c.functions, c.links
    words, units, _ = w.sizes

    class Model(c.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.embed = L.EmbedID(words, units)
                self.lstm = L.NStepLSTM(len(LAYERS), units, units, 0)
                self.out = L.Linear(units, words)

        def loss(self, x, t):
            h = F.separate(self.embed(x), axis=0)
            _, _, h = self.lstm(None, None, list(h))
            return F.softmax_cross_entropy(self.out(F.concat(h, axis=0)), t.ravel())

        def take(self, arrays):
            for i, layer in enumerate(self.lstm):
                for first, kind in ((0, "x"), (4, "h")):
                    for j, gate in enumerate(np.split(arrays[f"{kind}{i}"], 4)):
                        getattr(layer, f"w{first + j}").array[...] = gate
                        getattr(layer, f"b{first + j}").array[...] = 0
            take_ends(self, arrays)

    return Model()


def take_ends(model, arrays):
    model.embed.W.array[...] = arrays["embed/W"]
    model.out.W.array[...] = arrays["out/W"]
    model.out.b.array[...] = arrays["out/b"]


def torch(w):
    from torch import nn
    from torch.nn import functional as F

    words, units, _ = w.sizes

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(words, units)
            self.lstm = nn.LSTM(units, units, len(LAYERS), batch_first=True)
            self.out = nn.Linear(units, words)

        def loss(self, x, t):
            h, _ = self.lstm(self.embed(x))
            return F.cross_entropy(self.out(h.flatten(0, 1)), t.flatten())

        def take(self, arrays):
            for i in LAYERS:
                for theirs, ours in (("ih", "x"), ("hh", "h")):
                    getattr(self.lstm, f"weight_{theirs}_l{i}").copy_(arrays[f"{ours}{i}"])
                    getattr(self.lstm, f"bias_{theirs}_l{i}").zero_()
            self.embed.weight.copy_(arrays["embed/W"])
            self.out.weight.copy_(arrays["out/W"])
            self.out.bias.copy_(arrays["out/b"])

    return Model()


def jax_cell(state, x, weight):
    """Output and cell after a step, of the products with inputs."""
    import jax.numpy as jnp
    from jax import nn

    h, cell = state
    i, f, g, o = jnp.split(x + h @ weight, 4, axis=1)
    cell = nn.sigmoid(f) * cell + nn.sigmoid(i) * jnp.tanh(g)
    return nn.sigmoid(o) * jnp.tanh(cell), cell


def jax(w, p, x):
    """The products with inputs of all steps at once, then a scan."""
    import jax.numpy as jnp
    from jax import lax

    h = p["embed/W"][x].swapaxes(0, 1)
    for i in LAYERS:
        inputs = h @ p[f"x{i}"].T + p[f"b{i}"]
        weight = p[f"h{i}"].T

        def step(state, x, weight=weight):
            state = jax_cell(state, x, weight)
            return state, state[0]

        zeros = jnp.zeros((w.batch, w.sizes[1]), "f")
        _, h = lax.scan(step, (zeros, zeros), inputs)
    h = h.swapaxes(0, 1).reshape(-1, w.sizes[1])
    return h @ p["out/W"].T + p["out/b"]
