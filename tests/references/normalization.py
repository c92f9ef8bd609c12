"""References of normalization."""

import math
import statistics

import numpy as np


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


REFERENCES = {
    "BatchNormalization": batch_normalization,
    "FixedBatchNormalization": fixed_batch_normalization,
}
