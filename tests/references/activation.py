"""References of activations: one number at a time, or SciPy's."""

import math

import numpy as np
from references.tools import each
from scipy import special


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def crelu(x, axis=1):
    shape = list(x.shape)
    n = shape[axis]
    shape[axis] = 2 * n
    y = np.empty(shape)
    for index in np.ndindex(*shape):
        at = list(index)
        sign = 1 if at[axis % x.ndim] < n else -1
        at[axis % x.ndim] %= n
        y[index] = max(sign * x[tuple(at)], 0)
    return y


def _of_some(function):
    """SciPy's function refuses arrays without elements, which need no computing."""
    return lambda x, axis: function(x, axis=axis) if x.size else x


REFERENCES = {
    "ClippedReLU": each(lambda x, z: min(max(x, 0), z)),
    "CReLU": crelu,
    "ELU": each(lambda x, alpha: x if x > 0 else alpha * math.expm1(x)),
    "GELU": each(lambda x: x * special.ndtr(x)),
    "HardSigmoid": each(lambda x: min(max(0.2 * x + 0.5, 0), 1)),
    "LeakyReLU": each(lambda x, slope: x if x >= 0 else slope * x),
    "LogSoftmax": _of_some(special.log_softmax),
    "PReLU": each(lambda x, w: x if x >= 0 else w * x),
    "ReLU": each(lambda x: x if x > 0 else 0),
    "ReLUGradient": each(lambda g, y: g if y > 0 else 0),
    "Sigmoid": each(sigmoid),
    "SigmoidGradient": each(lambda g, s: g * s * (1 - s)),
    "SiLU": each(lambda x: x * sigmoid(x)),
    "Softmax": _of_some(special.softmax),
    "Softplus": each(lambda x, beta: math.log1p(math.exp(beta * x)) / beta),
    "Tanh": each(math.tanh),
    "TanhGradient": each(lambda g, y: g * (1 - y * y)),
}
