"""Values for parameters and inputs of vision models, the same wherever they are made."""

import zlib

import numpy as np

PATTERN = np.random.RandomState(0).standard_normal(10007)


def values(name, shape):
    """Numbers of about unit variance, by the name of what they are for."""
    return np.resize(np.roll(PATTERN, zlib.crc32(name.encode()) % PATTERN.size), shape)


def parameter(name, shape):
    """A value for what is called `name` ('res2/a/bn1/avg_var') in a file of weights."""
    drawn = values(name, shape)
    kind = name.rpartition("/")[2]
    if kind == "W":
        return drawn * np.sqrt(2 / np.prod(shape[1:]))
    if kind in ("gamma", "avg_var"):
        return 1 + 0.2 * np.tanh(drawn)
    return 0.1 * drawn


def summary(array):
    """A few numbers that tell an array from others: mean, deviation, and four of its elements."""
    flat = np.asarray(array, "float64").ravel()
    places = np.linspace(0, flat.size - 1, 4).astype(int)
    return [float(f"{v:.6g}") for v in (flat.mean(), flat.std(), *flat[places])]
