"""The language model of `lstm` step by step, as where each step depends on what came out before."""

import numpy as np

from benchmarks.models import lstm

arrays, batch, work = lstm.arrays, lstm.batch, lstm.work


def chainer(w, c):
    F, L = c.functions, c.links
    words, units, steps = w.sizes

    class Model(c.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.embed = L.EmbedID(words, units)
                self.lstm0 = L.LSTM(units, units)
                self.lstm1 = L.LSTM(units, units)
                self.out = L.Linear(units, words)

        def loss(self, x, t):
            self.lstm0.reset_state()
            self.lstm1.reset_state()
            loss = 0
            for i in range(steps):
                h = self.lstm1(self.lstm0(self.embed(x[:, i])))
                loss += F.softmax_cross_entropy(self.out(h), t[:, i])
            return loss / steps

        def take(self, arrays):
            for i, link in enumerate((self.lstm0, self.lstm1)):
                link.upward.W.array[...] = interleaved(arrays[f"x{i}"])
                link.lateral.W.array[...] = interleaved(arrays[f"h{i}"])
                link.upward.b.array[...] = 0
            lstm.take_ends(self, arrays)

    return Model()


def interleaved(gates):
    """Input, forget, cell, output: as cell, input, forget, output of each unit in turn."""
    i, f, g, o = np.split(gates, 4)
    return np.stack([g, i, f, o], axis=1).reshape(gates.shape)


def torch(w):
    from torch import nn
    from torch.nn import functional as F

    words, units, steps = w.sizes

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(words, units)
            self.cell0 = nn.LSTMCell(units, units)
            self.cell1 = nn.LSTMCell(units, units)
            self.out = nn.Linear(units, words)

        def loss(self, x, t):
            below = above = None
            loss = 0
            for i in range(steps):
                below = self.cell0(self.embed(x[:, i]), below)
                above = self.cell1(below[0], above)
                loss += F.cross_entropy(self.out(above[0]), t[:, i])
            return loss / steps

        def take(self, arrays):
            for i, cell in enumerate((self.cell0, self.cell1)):
                cell.weight_ih.copy_(arrays[f"x{i}"])
                cell.weight_hh.copy_(arrays[f"h{i}"])
                cell.bias_ih.zero_()
                cell.bias_hh.zero_()
            self.embed.weight.copy_(arrays["embed/W"])
            self.out.weight.copy_(arrays["out/W"])
            self.out.bias.copy_(arrays["out/b"])

    return Model()


def jax_loss(w, p, x, t):
    """A scan over the steps, all of a step in each."""
    import jax.numpy as jnp
    from jax import lax, nn

    words, units, steps = w.sizes

    def step(state, given):
        words, labels = given
        h, states = p["embed/W"][words], []
        for i, before in enumerate(state):
            inputs = h @ p[f"x{i}"].T + p[f"b{i}"]
            h, cell = lstm.jax_cell(before, inputs, p[f"h{i}"].T)
            states.append((h, cell))
        scores = nn.log_softmax(h @ p["out/W"].T + p["out/b"])
        return states, -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()

    zeros = jnp.zeros((w.batch, units), "f")
    _, losses = lax.scan(step, [(zeros, zeros)] * len(lstm.LAYERS), (x.T, t.T))
    return losses.mean()


jax = jax_loss
