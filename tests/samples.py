"""Small ops in every form an op can take, for tests of the engine."""

import contextlib
import gc

import numpy as np

import core
from core import Elementwise, FunctionNode, Variable

_random = np.random.default_rng(0)


def array(*shape, dtype="float32"):
    """Repeatable numbers between 0.2 and 0.9."""
    return np.asarray(_random.uniform(0.2, 0.9, shape), dtype)


def variable(*shape, dtype="float32", **options):
    return Variable(array(*shape, dtype=dtype), **options)


def ones(*shape, dtype="float32"):
    return np.ones(shape, dtype)


def total(x):
    """The sum of all elements, differentiable."""
    return core.functions.Sum.call(x)


class Tanh(Elementwise):
    """Declared; retains its output alone."""

    def compute(self, xp, x):
        return xp.tanh(x)

    def gradient(self, xp, g, out):
        return g * (1 - out * out)


class GeneralMultiply(FunctionNode):
    """Written in the general form; retains both inputs."""

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, indexes, grad_outputs):
        inputs = self.get_retained_inputs()
        return tuple(grad_outputs[0] * inputs[1 - i] for i in indexes)


class GeneralTanh(FunctionNode):
    """Written in the general form, for the host alone; retains its output."""

    def forward_cpu(self, inputs):
        self.retain_outputs((0,))
        return (np.tanh(inputs[0]),)

    def backward(self, indexes, grad_outputs):
        (y,) = self.get_retained_outputs()
        return (grad_outputs[0] * (1 - y * y),)


class Halves(FunctionNode):
    """Two outputs, declared: the first half of a vector, and twice the second."""

    output_names = ("first", "second")

    def compute(self, xp, x):
        n = x.shape[0] // 2
        return x[:n], x[n:] * 2

    def gradient(self, xp, g):
        first, second = g
        self.seen = tuple(part is not None for part in g)
        if first is None:
            first = xp.zeros_like(second)
        if second is None:
            second = xp.zeros_like(first)
        return (Joined().evaluate(first, second * 2),)


class GeneralHalves(FunctionNode):
    """The same in the general form."""

    def forward(self, inputs):
        n = len(inputs[0]) // 2
        return inputs[0][:n], inputs[0][n:] * 2

    def backward(self, indexes, grad_outputs):
        self.seen = tuple(g is not None for g in grad_outputs)
        known = next(g for g in grad_outputs if g is not None)
        first, second = (Variable(known.array * 0) if g is None else g for g in grad_outputs)
        return Joined().apply((first, second * 2))


class Joined(FunctionNode):
    """Two vectors end to end."""

    def compute(self, xp, x, y):
        return xp.concat([x, y])

    def gradient(self, xp, g):
        n = self.inputs[0].shape[0]
        return g[:n], g[n:]


class Stop(FunctionNode):
    """Passes its input on and defines no backward."""

    def forward(self, inputs):
        return (inputs[0] + 0,)


def tanh(x):
    return Tanh.call(x)


def multiply(x, y):
    return x * y


def general_tanh(x):
    return GeneralTanh().apply((x,))[0]


def general_multiply(x, y):
    return GeneralMultiply().apply((x, y))[0]


def applied_tanh(x):
    return Tanh().apply((x,))[0]


FORMS = {
    "declared": (multiply, tanh),
    "general": (general_multiply, general_tanh),
    "declared and general": (multiply, general_tanh),
    "general and declared": (general_multiply, tanh),
    "applied": (multiply, applied_tanh),
}


@contextlib.contextmanager
def no_collector():
    """A block in which nothing but reference counts frees memory."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
