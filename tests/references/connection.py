"""References of layers that connect units by weights."""

import math
from itertools import product

import numpy as np
from references.tools import pair, windows


def linear(x, W, b=None):
    y = np.empty((len(x), len(W)))
    for i, j in np.ndindex(*y.shape):
        y[i, j] = math.fsum(p * q for p, q in zip(x[i], W[j], strict=True))
    return y if b is None else y + b[None]


def convolution(x, W, b=None, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
    n = x.ndim - 2
    settings = (pair(value, n) for value in (stride, pad, dilate))
    places = [
        windows(s, k, st, p, cover_all, d)
        for s, k, st, p, d in zip(x.shape[2:], W.shape[2:], *settings, strict=True)
    ]
    y = np.zeros((len(x), len(W), *map(len, places)))
    per_group = len(W) // groups
    for index in np.ndindex(*y.shape):
        example, unit, *out = index
        first = unit // per_group * W.shape[1]
        terms = [] if b is None else [b[unit]]
        for at in np.ndindex(*W.shape[1:]):
            seen = [places[i][o][k] for i, (o, k) in enumerate(zip(out, at[1:], strict=True))]
            if None not in seen:
                terms.append(W[(unit, *at)] * x[(example, first + at[0], *seen)])
        y[index] = math.fsum(terms)
    return y


def deconvolution(x, W, b=None, stride=1, pad=0, cover_all=False, dilate=1, groups=1, size=None):
    """Scatters each element, in a frame that is wide enough for the padding to be cut off."""
    n, k = x.ndim - 2, W.shape[2:]
    stride, pad, dilate = (pair(value, n) for value in (stride, pad, dilate))
    if size is None:
        size = [
            (x.shape[i + 2] - 1) * stride[i] + (k[i] - 1) * dilate[i] + 1 - 2 * pad[i]
            for i in range(n)
        ]
    frame = np.zeros((len(x), W.shape[1] * groups, *(size[i] + 2 * pad[i] + 9 for i in range(n))))
    for (example, channel, *at), value in np.ndenumerate(x):
        first = channel // (len(W) // groups) * W.shape[1]
        for unit, *place in np.ndindex(*W.shape[1:]):
            to = [at[i] * stride[i] + place[i] * dilate[i] for i in range(n)]
            frame[(example, first + unit, *to)] += value * W[(channel, unit, *place)]
    y = frame[(..., *(slice(pad[i], pad[i] + size[i]) for i in range(n)))]
    return y if b is None else y + b.reshape(-1, *(1,) * n)


def shift(x, ksize=3, dilate=1, back=False):
    """Looks up where each element comes from, if it is inside."""
    (kh, kw), (dh, dw) = pair(ksize, 2), pair(dilate, 2)
    order = list(range(kh * kw))
    order[kh * kw // 2], order[-1] = order[-1], order[kh * kw // 2]
    sign = -1 if back else 1
    y = np.zeros(x.shape)
    for n, c, h, w in np.ndindex(*x.shape):
        place = order[min(c // (x.shape[1] // (kh * kw)), kh * kw - 1)]
        row = h + sign * (kh // 2 - place // kw) * dh
        column = w + sign * (kw // 2 - place % kw) * dw
        if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
            y[n, c, h, w] = x[n, c, row, column]
    return y


def embed_id(x, W, ignore_label=None):
    y = np.zeros((*x.shape, W.shape[1]))
    for index, column in product(np.ndindex(*x.shape), range(W.shape[1])):
        if x[index] != ignore_label:
            y[(*index, column)] = W[x[index], column]
    return y


def all_windows(x, ksize, stride=1, pad=0, dilate=1, cover_all=False):
    n = x.ndim - 2
    steps = [pair(v, n) for v in (ksize, stride, pad, dilate)]
    places = [
        windows(size, k, s, p, cover_all, d)
        for size, k, s, p, d in zip(x.shape[2:], *steps, strict=True)
    ]
    y = np.zeros((*x.shape[:2], *steps[0], *map(len, places)))
    for index in np.ndindex(*y.shape):
        inside, window = index[2 : 2 + n], index[2 + n :]
        seen = [place[o][k] for place, o, k in zip(places, window, inside, strict=True)]
        if None not in seen:
            y[index] = x[(*index[:2], *seen)]
    return y


REFERENCES = {
    "Windows": all_windows,
    "LinearFunction": linear,
    "Convolution": convolution,
    "Deconvolution": deconvolution,
    "EmbedIDFunction": embed_id,
    "Shift": shift,
}
