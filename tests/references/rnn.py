"""References of recurrent cells."""

import math

import numpy as np
from scipy.special import expit


def gates(x, row, unit, rest):
    return [float(x[(row, 4 * unit + k, *rest)]) for k in range(4)]


def lstm(c_prev, x):
    c = np.array(c_prev)
    h = np.empty((len(x), *c.shape[1:]))
    for row, unit, *rest in np.ndindex(*h.shape):
        at = (row, unit, *rest)
        a, i, f, o = gates(x, row, unit, rest)
        c[at] = math.tanh(a) * expit(i) + expit(f) * c_prev[at]
        h[at] = expit(o) * math.tanh(c[at])
    return c, h


def over_sequences(states, x, shorter, reverse, step):
    """Outputs in the order of x, and the last states; `step(states, row)` takes one row of each."""
    n = len(states[0])
    steps = (len(x) + sum(shorter)) // n
    lengths = [steps] * (n - len(shorter)) + [steps - less for less in shorter]
    rows = [(time, i) for time in range(steps) for i in range(n) if time < lengths[i]]
    outputs, last = np.empty((len(x), states[0].shape[1])), [np.array(s) for s in states]
    for i in range(n):
        own = [place for place, (_, sequence) in enumerate(rows) if sequence == i]
        for place in own[::-1] if reverse else own:
            new = step([s[i : i + 1] for s in last], x[place : place + 1])
            for s, value in zip(last, new, strict=True):
                s[i] = value[0]
            outputs[place] = last[0][i]
    return outputs, *last


def lstm_sequence(h_first, c_first, x, W, shorter=(), reverse=False):
    def step(states, row):
        h, c = states
        c, h = lstm(c, row + np.einsum("nu,vu->nv", h, W))
        return h, c

    return over_sequences((h_first, c_first), x, shorter, reverse, step)


def slstm(c_prev1, c_prev2, x1, x2):
    c, h = np.empty_like(c_prev1), np.empty_like(c_prev1)
    for row, unit, *rest in np.ndindex(*c.shape):
        at, terms, opening = (row, unit, *rest), [], 0.0
        for c_prev, x in ((c_prev1, x1), (c_prev2, x2)):
            a, i, f, o = gates(x, row, unit, rest)
            terms += [math.tanh(a) * expit(i), expit(f) * c_prev[at]]
            opening += o
        c[at] = math.fsum(terms)
        h[at] = math.tanh(c[at]) * expit(opening)
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


def gru_sequence(h_first, x, W, b, shorter=(), reverse=False):
    def step(states, row):
        (h,) = states
        return (gru_step(h, row, np.einsum("nu,vu->nv", h, W) + b),)

    return over_sequences((h_first,), x, shorter, reverse, step)


def simple_sequence(activation):
    def outputs(h_first, x, W, shorter=(), reverse=False):
        def step(states, row):
            z = row + np.einsum("nu,vu->nv", states[0], W)
            return (np.vectorize(activation, otypes=[float])(z),)

        return over_sequences((h_first,), x, shorter, reverse, step)

    return outputs


REFERENCES = {
    "GRUSequence": gru_sequence,
    "LSTM": lstm,
    "LSTMSequence": lstm_sequence,
    "ReLUSequence": simple_sequence(lambda v: max(v, 0.0)),
    "SLSTM": slstm,
    "TanhSequence": simple_sequence(math.tanh),
    "TreeLSTM": tree_lstm,
}
