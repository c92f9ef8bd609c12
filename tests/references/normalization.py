"""References of normalization."""

import math
import statistics

import numpy as np
from references.tools import along
from scipy import linalg


def _by_channel(x, axis):
    """For each place of the parameters: the index of its elements in x."""
    axis = (0, *range(2, x.ndim)) if axis is None else axis
    kept = [n for i, n in enumerate(x.shape) if i not in axis]
    for place in np.ndindex(*kept):
        rest = iter(place)
        yield place, tuple(slice(None) if i in axis else next(rest) for i in range(x.ndim))


def batch_normalization(x, gamma, beta, eps=2e-5, axis=None):
    y, mean, var = np.empty_like(x), np.empty_like(gamma), np.empty_like(gamma)
    for place, part in _by_channel(x, axis):
        values = x[part].ravel().tolist()
        mean[place], var[place] = statistics.fmean(values), statistics.pvariance(values)
        z = (x[part] - mean[place]) / math.sqrt(var[place] + eps)
        y[part] = gamma[place] * z + beta[place]
    return y, mean, var


def fixed_batch_normalization(x, gamma, beta, mean, var, eps=2e-5, axis=None):
    y = np.empty_like(x)
    for place, part in _by_channel(x, axis):
        spread = math.sqrt(var[place] + eps)
        y[part] = (x[part] - mean[place]) * gamma[place] / spread + beta[place]
    return y


def _standardized(values, eps):
    mean, spread = statistics.fmean(values), math.sqrt(statistics.pvariance(values) + eps)
    return [(v - mean) / spread for v in values]


def layer_normalization(x, gamma, beta, eps=1e-5, axis=(1,)):
    y = np.empty_like(x)
    rest = [n for i, n in enumerate(x.shape) if i not in axis]
    for place in np.ndindex(*rest):
        left = iter(place)
        part = tuple(slice(None) if i in axis else next(left) for i in range(x.ndim))
        z = _standardized(x[part].ravel().tolist(), eps)
        y[part] = np.array(z).reshape(gamma.shape) * gamma + beta
    return y


def group_normalization(x, gamma, beta, groups, eps=1e-5):
    y = np.empty_like(x)
    size = x.shape[1] // groups
    for example, group in np.ndindex(len(x), groups):
        part = (example, slice(group * size, (group + 1) * size))
        y[part] = np.reshape(_standardized(x[part].ravel().tolist(), eps), x[part].shape)
    for channel in range(x.shape[1]):
        y[:, channel] = y[:, channel] * gamma[channel] + beta[channel]
    return y


def rms_normalization(x, gamma, eps=1e-5):
    y = np.empty_like(x)
    for place in np.ndindex(*x.shape[:-1]):
        root = math.sqrt(statistics.fmean([v * v for v in x[place].tolist()]) + eps)
        y[place] = [v / root * c for v, c in zip(x[place], gamma, strict=True)]
    return y


def normalize(x, eps=1e-5, axis=1):
    lengths = along(lambda values: math.hypot(*values))(x, axis, keepdims=True)
    return x / (lengths + eps)


def neighbour_sum(x, n=5):
    y = np.zeros_like(x)
    for i in range(x.shape[1]):
        for j in range(max(i - n // 2, 0), min(i + n // 2 + 1, x.shape[1])):
            y[:, i] += x[:, j]
    return y


def local_response_normalization(x, n=5, k=2, alpha=1e-4, beta=0.75):
    y = np.empty_like(x)
    for b, i, *place in np.ndindex(*x.shape):
        near = x[(b, slice(max(i - n // 2, 0), i + n // 2 + 1), *place)].tolist()
        strength = k + alpha * math.fsum(v * v for v in near)
        y[(b, i, *place)] = x[(b, i, *place)] * math.exp(-beta * math.log(strength))
    return y


def inverse_square_root(A):
    return np.stack([linalg.inv(linalg.sqrtm((a + a.T) / 2)) for a in A])


def lyapunov(X, Q):
    """By the linear equations for the entries of P."""
    solutions = []
    for x, q in zip(X, Q, strict=True):
        x, one = (x + x.T) / 2, np.eye(len(x))
        solutions.append(
            linalg.solve(np.kron(x, one) + np.kron(one, x), q.ravel()).reshape(q.shape)
        )
    return np.stack(solutions)


REFERENCES = {
    "BatchNormalization": batch_normalization,
    "FixedBatchNormalization": fixed_batch_normalization,
    "GroupNormalization": group_normalization,
    "InverseSquareRoot": inverse_square_root,
    "LayerNormalization": layer_normalization,
    "LocalResponseNormalization": local_response_normalization,
    "Lyapunov": lyapunov,
    "NeighbourSum": neighbour_sum,
    "NormalizeL2": normalize,
    "RMSNormalization": rms_normalization,
}
