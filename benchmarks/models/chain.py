"""100 operations on arrays of 4, mul, add and tanh in turn: the framework's own time."""

import numpy as np

from benchmarks.workers.protocol import OPERATIONS, REPETITIONS

X, W, B = (0.1, 0.2, 0.3, 0.4), (0.9, 1.0, 1.1, 1.2), (0.0, 0.1, -0.1, 0.2)


def work(w):
    return {"operations": OPERATIONS}


def chainer(w, c):
    x, scale, shift, seed = (c.Variable(np.array(a, "f")) for a in (X, W, B, (1, 1, 1, 1)))
    inputs, tanh = [x, scale, shift], c.functions.tanh

    def chain():
        h = x
        for _ in range(REPETITIONS):
            h = tanh(h * scale + shift)
        return h * scale

    def backward():
        h = chain()
        h.grad = seed.array
        h.backward()
        for each in inputs:
            each.cleargrad()
        return h.array

    def without():
        with c.no_backprop_mode():
            return chain().array

    def recording():
        h = chain()
        g = c.grad([h], inputs, [seed], enable_double_backprop=True)
        return g[0].array

    def returning():
        h = chain()
        g = c.grad([c.functions.sum(h)], inputs)
        return sum([each.array for each in (h, *g)])

    return {
        "backward": backward,
        "without": without,
        "recording": recording,
        "captured": returning,
    }


def torch(w):
    import torch

    inputs = [torch.tensor(a, requires_grad=True) for a in (X, W, B)]
    x, scale, shift = inputs
    seed, tanh = torch.ones(4), torch.tanh

    def chain():
        h = x
        for _ in range(REPETITIONS):
            h = tanh(h * scale + shift)
        return h * scale

    def backward():
        h = chain()
        h.backward(seed)
        for each in inputs:
            each.grad = None
        return h.detach()

    def without():
        with torch.no_grad():
            return chain()

    def recording():
        h = chain()
        g = torch.autograd.grad([h], inputs, [seed], create_graph=True)
        return g[0].detach()

    def returning():
        h = chain()
        g = torch.autograd.grad(h.sum(), inputs)
        return (h + g[0] + g[1] + g[2]).detach()

    return {
        "backward": backward,
        "without": without,
        "recording": recording,
        "captured": returning,
    }


def jax(w):
    import jax
    from jax import numpy as jnp

    given = [jnp.asarray(a, "f") for a in (X, W, B)]

    def chain(x, scale, shift):
        h = x
        for _ in range(REPETITIONS):
            h = jnp.tanh(h * scale + shift)
        return h * scale

    def differentiated(*given):
        h, gradients = jax.vjp(chain, *given)
        return h, *gradients(jnp.ones(4, "f"))

    without, recording = jax.jit(chain), jax.jit(differentiated)
    returning = jax.jit(lambda *given: sum(differentiated(*given)))
    return {
        "backward": lambda: recording(*given)[0],
        "without": lambda: without(*given),
        "recording": lambda: recording(*given)[1],
        "captured": lambda: returning(*given),
    }
