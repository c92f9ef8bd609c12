"""References of ops on images and signals: one pixel, or one sum, at a time."""

import cmath
import math
from fractions import Fraction
from itertools import product

import numpy as np
from references.tools import pair, windows


def depth2space(X, r):
    n, c, h, w = X.shape
    c //= r * r
    y = np.empty((n, c, h * r, w * r))
    for b, k, i, j in np.ndindex(*y.shape):
        y[b, k, i, j] = X[b, ((i % r) * r + j % r) * c + k, i // r, j // r]
    return y


def space2depth(X, r):
    n, c, h, w = X.shape
    y = np.empty((n, c * r * r, h // r, w // r))
    for b, k, i, j in np.ndindex(*X.shape):
        y[b, ((i % r) * r + j % r) * c + k, i // r, j // r] = X[b, k, i, j]
    return y


def im2col(x, ksize, stride=1, pad=0, cover_all=False, dilate=1):
    settings = [pair(value, 2) for value in (ksize, stride, pad, dilate)]
    rows, columns = (
        windows(x.shape[2 + a], k, s, p, cover_all, d)
        for a, (k, s, p, d) in enumerate(zip(*settings, strict=True))
    )
    kh, kw = settings[0]
    y = np.zeros((len(x), x.shape[1] * kh * kw, len(rows), len(columns)))
    for b, c, i, j in np.ndindex(*x.shape[:2], kh, kw):
        for p, q in product(range(len(rows)), range(len(columns))):
            at = rows[p][i], columns[q][j]
            if None not in at:
                y[b, (c * kh + i) * kw + j, p, q] = x[(b, c, *at)]
    return y


def pad_sequence(*xs, length=None, padding=0, axis=0):
    length = max(map(len, xs)) if length is None else length
    y = np.full((len(xs), length, *xs[0].shape[1:]), float(padding))
    for i, x in enumerate(xs):
        for t, value in enumerate(x):
            y[i, t] = value
    return y


def bilinear(image, row, column):
    """The four pixels around a place, those outside being 0, by the areas across from them."""
    h, w = image.shape
    total = 0.0
    for i in (math.floor(row), math.floor(row) + 1):
        for j in (math.floor(column), math.floor(column) + 1):
            if 0 <= i < h and 0 <= j < w:
                total += image[i, j] * (1 - abs(row - i)) * (1 - abs(column - j))
    return total


def place(i, n, m, mode, align_corners):
    """Where the pixel i of m lies among n."""
    if mode == "nearest":
        return math.floor(Fraction(i * n, m))
    if align_corners:
        return i * (n - 1) / max(m - 1, 1)
    return min(max((2 * i + 1) * n / (2 * m) - 0.5, 0), n - 1)


def resize_images(x, output_shape, mode="bilinear", align_corners=True):
    y = np.empty((*x.shape[:2], *output_shape))
    for b, c, *at in np.ndindex(*y.shape):
        sizes = zip(at, x.shape[2:], output_shape, strict=True)
        y[b, c, *at] = bilinear(x[b, c], *[place(*s, mode, align_corners) for s in sizes])
    return y


def spatial_transformer_grid(theta, output_shape):
    h, w = output_shape
    y = np.empty((len(theta), 2, h, w))
    for b, k, i, j in np.ndindex(*y.shape):
        down = -1 + 2 * i / (h - 1) if h > 1 else -1
        across = -1 + 2 * j / (w - 1) if w > 1 else -1
        y[b, k, i, j] = math.fsum([theta[b, k, 0] * across, theta[b, k, 1] * down, theta[b, k, 2]])
    return y


def spatial_transformer_sampler(x, grid):
    h, w = x.shape[2:]
    y = np.empty((*x.shape[:2], *grid.shape[2:]))
    for b, c, i, j in np.ndindex(*y.shape):
        across, down = grid[b, :, i, j]
        y[b, c, i, j] = bilinear(x[b, c], (down + 1) * (h - 1) / 2, (across + 1) * (w - 1) / 2)
    return y


def fft(x, y, inverse=False):
    n = x.shape[-1]
    sign, scale = (1, n) if inverse else (-1, 1)
    turns = [[cmath.exp(sign * 2j * cmath.pi * j * k / n) for k in range(n)] for j in range(n)]
    z = (x + 1j * y) @ np.array(turns) / scale
    return z.real, z.imag


REFERENCES = {
    "Depth2Space": depth2space,
    "FFT": fft,
    "Im2Col": im2col,
    "PadSequence": pad_sequence,
    "ResizeImages": resize_images,
    "Space2Depth": space2depth,
    "SpatialTransformerGrid": spatial_transformer_grid,
    "SpatialTransformerSampler": spatial_transformer_sampler,
}
