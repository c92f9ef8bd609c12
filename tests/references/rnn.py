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


def slstm(c_prev1, c_prev2, x1, x2):
    c, h = np.empty_like(c_prev1), np.empty_like(c_prev1)
    for row, unit in np.ndindex(*c.shape):
        a1, i1, f1, o1 = (float(v) for v in x1[row, 4 * unit : 4 * unit + 4])
        a2, i2, f2, o2 = (float(v) for v in x2[row, 4 * unit : 4 * unit + 4])
        kept = [expit(f1) * c_prev1[row, unit], expit(f2) * c_prev2[row, unit]]
        c[row, unit] = math.fsum([math.tanh(a1 + a2) * expit(i1 + i2), *kept])
        h[row, unit] = math.tanh(c[row, unit]) * expit(o1 + o2)
    return c, h


def tree_lstm(cells, x):
    n, k, u = cells.shape
    c, h = np.empty((n, u)), np.empty((n, u))
    for row, unit in np.ndindex(n, u):
        a, i, o, *f = (float(v) for v in x[row, unit::u])
        kept = [expit(f[child]) * cells[row, child, unit] for child in range(k)]
        c[row, unit] = math.fsum([math.tanh(a) * expit(i), *kept])
        h[row, unit] = math.tanh(c[row, unit]) * expit(o)
    return c, h


def gru_step(h, x, q):
    y, u = np.empty_like(h), h.shape[1]
    for row, unit in np.ndindex(*h.shape):
        (rx, zx, ax), (rq, zq, aq) = x[row, unit::u], q[row, unit::u]
        z = expit(zx + zq)
        y[row, unit] = (1 - z) * math.tanh(ax + expit(rx + rq) * aq) + z * h[row, unit]
    return y


REFERENCES = {"GRUStep": gru_step, "LSTM": lstm, "SLSTM": slstm, "TreeLSTM": tree_lstm}
