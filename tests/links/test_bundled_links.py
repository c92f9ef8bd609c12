"""Every bundled link, by check_link: against formulas written here in plain NumPy."""

import numpy as np
import pytest

import core.links as L
from core.testing import check_link

RANDOM = np.random.RandomState(0)
X = RANDOM.uniform(-1, 1, (4, 3))
IMAGES = RANDOM.uniform(-1, 1, (2, 4, 6, 5))
IDS = np.array([[0, 3], [2, 2], [3, 1]], "i")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def affine(p, x, name="", flat=1):
    y = x.reshape(*x.shape[:flat], -1) @ p[f"{name}/W"].T
    return y + p.get(f"{name}/b", 0)


def convolution(p, x, stride=1, pad=0, dilate=1, groups=1):
    W, b = p["/W"], p.get("/b")
    (o, c, kh, kw), (n, _, h, w) = W.shape, x.shape
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    oh = (h + 2 * pad - dilate * (kh - 1) - 1) // stride + 1
    ow = (w + 2 * pad - dilate * (kw - 1) - 1) // stride + 1
    y = np.zeros((n, o, oh, ow)) if b is None else np.zeros((n, o, oh, ow)) + b[:, None, None]
    for k in range(o):
        start = k // (o // groups) * c
        for i in range(oh):
            for j in range(ow):
                rows = slice(i * stride, i * stride + dilate * (kh - 1) + 1, dilate)
                columns = slice(j * stride, j * stride + dilate * (kw - 1) + 1, dilate)
                y[:, k, i, j] += (x[:, start : start + c, rows, columns] * W[k]).sum((1, 2, 3))
    return y


def normalization(p, x, axis=(0,), gamma=1, beta=0, eps=2e-5):
    mean, var = x.mean(axis, keepdims=True), x.var(axis, keepdims=True)
    kept = [1 if i in axis else n for i, n in enumerate(x.shape)]
    scale = np.reshape(p.get("/gamma", np.full(mean.shape, gamma)), kept)
    shift = np.reshape(p.get("/beta", np.full(mean.shape, beta)), kept)
    return (x - mean) / np.sqrt(var + eps) * scale + shift


def lstm(p, c, h, x):
    gates = affine(p, x, "/upward")
    gates = gates + (0 if h is None else h @ p["/lateral/W"].T)
    a, i, f, o = (gates[:, k::4] for k in range(4))
    kept = 0 if c is None else sigmoid(f) * c
    c = np.tanh(a) * sigmoid(i) + kept
    return c, sigmoid(o) * np.tanh(c)


def softmax_loss(p, x, t):
    z = affine(p, x, "/predictor")
    z = z - z.max(1, keepdims=True)
    return -(z - np.log(np.exp(z).sum(1, keepdims=True)))[np.arange(len(t)), t].mean()


LINKS = {
    "Linear": (lambda: L.Linear(3, 2), (X,), affine),
    "Linear without a bias": (lambda: L.Linear(3, 2, nobias=True), (X,), affine),
    "Linear, size omitted": (lambda: L.Linear(2), (X,), affine),
    "Linear, flattening": (lambda: L.Linear(None, 2), (IMAGES,), affine),
    "Linear, initial values": (
        lambda: L.Linear(3, 2, initialW=0.5, initial_bias=-1),
        (X,),
        lambda p, x: np.repeat(x.sum(1, keepdims=True) * 0.5 - 1, 2, axis=1),
    ),
    "Convolution2D": (lambda: L.Convolution2D(4, 3, 2), (IMAGES,), convolution),
    "Convolution2D, size omitted": (lambda: L.Convolution2D(3, 2), (IMAGES,), convolution),
    "Convolution2D, settings": (
        lambda: L.Convolution2D(4, 6, (3, 2), 2, 1, dilate=1, groups=2),
        (IMAGES,),
        lambda p, x: convolution(p, x, 2, 1, 1, 2),
    ),
    "Convolution2D, dilated": (
        lambda: L.Convolution2D(None, 2, 2, pad=1, dilate=2, nobias=True),
        (IMAGES,),
        lambda p, x: convolution(p, x, 1, 1, 2),
    ),
    "EmbedID": (lambda: L.EmbedID(4, 3), (IDS,), lambda p, x: p["/W"][x]),
    "EmbedID, ignoring": (
        lambda: L.EmbedID(4, 3, ignore_label=2),
        (IDS,),
        lambda p, x: np.where((x == 2)[..., None], 0, p["/W"][x]),
    ),
    "BatchNormalization": (lambda: L.BatchNormalization(3), (X,), normalization),
    "BatchNormalization, size omitted": (
        lambda: L.BatchNormalization(),
        (IMAGES,),
        lambda p, x: normalization(p, x, (0, 2, 3)),
    ),
    "BatchNormalization, no parameters": (
        lambda: L.BatchNormalization(3, use_gamma=False, use_beta=False),
        (X,),
        normalization,
    ),
    "BatchNormalization, axes": (
        lambda: L.BatchNormalization((4, 5), axis=(0, 2), eps=1e-2, initial_gamma=2),
        (IMAGES,),
        lambda p, x: normalization(p, x, (0, 2), eps=1e-2),
    ),
    "LSTM": (lambda: L.LSTM(3, 2), (X,), lambda p, x: lstm(p, None, None, x)[1]),
    "LSTM, size omitted": (lambda: L.LSTM(2), (X,), lambda p, x: lstm(p, None, None, x)[1]),
    "StatelessLSTM": (
        lambda: L.StatelessLSTM(3, 2),
        (RANDOM.uniform(-1, 1, (4, 2)), RANDOM.uniform(-1, 1, (4, 2)), X),
        lstm,
    ),
    "Classifier": (
        lambda: L.Classifier(L.Linear(3, 3)),
        (X, np.array([0, 1, 2, 0], "i")),
        softmax_loss,
    ),
}


@pytest.mark.parametrize("name", LINKS)
def test_link(name):
    make, inputs, reference = LINKS[name]
    kind = "solution" if "Batch" in name else "reduction"
    check_link(make, inputs, reference, kind=kind)
