"""References of the array standard's functions: elimination, Gram and Schmidt, SciPy's routines."""

import math

import numpy as np
import scipy.linalg
from references.linear_algebra import _eliminated, cholesky
from references.tools import along, each


def stacked(function, outputs=1):
    """A reference for stacks of matrices from one for a single matrix."""

    def reference(*inputs, **settings):
        lead = np.broadcast_shapes(*[x.shape[:-2] for x in inputs])
        inputs = [np.broadcast_to(x, lead + x.shape[-2:]) for x in inputs]
        found = [function(*[x[at] for x in inputs], **settings) for at in np.ndindex(*lead)]
        blank = function(*[np.eye(*x.shape[-2:]) for x in inputs], **settings)  # for the shapes
        if outputs == 1:
            return np.array(found, float).reshape(lead + np.shape(blank))
        return tuple(
            np.array([one[i] for one in found], float).reshape(lead + np.shape(blank[i]))
            for i in range(outputs)
        )

    return reference


def _upright(vectors):
    """Signs that make the greatest element of each column positive."""
    return np.array([1.0 if max(v, key=abs) > 0 else -1.0 for v in vectors.T])


def eigh(a):
    w, v = scipy.linalg.eigh((a + a.T) / 2, driver="ev")
    return w, v * _upright(v)


def svd(a, full_matrices):
    u, s, vh = scipy.linalg.svd(a, full_matrices=full_matrices, lapack_driver="gesvd")
    signs = _upright(u)
    return u * signs, s, vh * signs[:, None]


def qr(a, mode):
    """Gram and Schmidt, one column after the other."""
    k = min(a.shape)
    q = np.zeros((len(a), k))
    for j in range(k):
        rest = a[:, j].copy()
        for i in range(j):
            rest -= q[:, i] * math.fsum(q[:, i] * rest)
        q[:, j] = rest / math.sqrt(math.fsum(rest * rest))
    return q, q.T @ a


def slogdet(a):
    determinant = _eliminated(a)[1]
    return math.copysign(1, determinant), math.log(abs(determinant))


def _cofactor(rows, i, j):
    """The determinant of what is left without a row and a column, by Laplace's expansion."""
    minor = [row[:j] + row[j + 1 :] for row in rows[:i] + rows[i + 1 :]]
    terms = [minor[0][k] * _cofactor(minor, 0, k) for k in range(len(minor))] or [1.0]
    return (-1) ** (i + j) * math.fsum(terms)


def cofactors(a):
    rows = a.tolist()
    return np.array([_cofactor(rows, i, j) for i, j in np.ndindex(*a.shape)]).reshape(a.shape)


def cofactors_slope(a, b):
    """Cofactors are of the first degree in each element, so that differences are derivatives."""
    y, at_first = np.zeros(a.shape), cofactors(a)
    for i, j in np.ndindex(*a.shape):
        moved = a.copy()
        moved[i, j] += 1
        y[i, j] = math.fsum(((cofactors(moved) - at_first) * b).ravel())
    return y


def pinv(a):
    """By the normal equations, of matrices of full rank."""
    if a.shape[0] >= a.shape[1]:
        return _eliminated(a.T @ a)[0] @ a.T
    return a.T @ _eliminated(a @ a.T)[0]


def power_norm(x, ord, axis=None, keepdims=False):
    def root(values):
        return math.fsum([abs(v) ** ord for v in values]) ** (1 / ord) if values else 0.0

    return along(root)(x, axis, keepdims)


REFERENCES = {
    "Cofactors": stacked(cofactors),
    "CofactorsSlope": stacked(cofactors_slope),
    "Copysign": each(math.copysign),
    "Eigh": stacked(eigh, 2),
    "EuclideanNorm": along(lambda values: math.hypot(*values)),
    "Hypot": each(math.hypot),
    "Logaddexp": each(lambda x1, x2: max(x1, x2) + math.log1p(math.exp(-abs(x1 - x2)))),
    "Pinv": stacked(pinv),
    "PowerNorm": power_norm,
    "QR": stacked(qr, 2),
    "Remainder": each(lambda x1, x2: x1 % x2),
    "SVD": stacked(svd, 3),
    "Slogdet": stacked(slogdet, 2),
    "Solve": stacked(lambda a, b: _eliminated(a)[0] @ b),
    "StackedCholesky": stacked(cholesky),
    "StackedDet": stacked(lambda a: _eliminated(a)[1]),
    "StackedInv": stacked(lambda a: _eliminated(a)[0]),
}
