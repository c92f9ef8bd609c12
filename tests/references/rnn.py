"""References of recurrent cells."""

import math

import numpy as np
from scipy.special import expit


def lstm(c_prev, x):
    c = np.array(c_prev)
    h = np.empty((len(x), c.shape[1]))
    for row, unit in np.ndindex(*h.shape):
        a, i, f, o = (float(v) for v in x[row, 4 * unit : 4 * unit + 4])
        c[row, unit] = math.tanh(a) * expit(i) + expit(f) * c_prev[row, unit]
        h[row, unit] = expit(o) * math.tanh(c[row, unit])
    return c, h


REFERENCES = {"LSTM": lstm}
