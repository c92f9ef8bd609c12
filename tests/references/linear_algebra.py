"""References of linear algebra and running reductions: elimination, and plain loops."""

import itertools
import math

import numpy as np
from references.tools import axes_of


def _eliminated(a):
    """The inverse by Gauss and Jordan with pivots, and the determinant on the way."""
    n = len(a)
    rows = [[*map(float, row), *np.eye(n)[i].tolist()] for i, row in enumerate(a)]
    determinant = 1.0
    for i in range(n):
        best = max(range(i, n), key=lambda k: abs(rows[k][i]))
        if best != i:
            rows[i], rows[best] = rows[best], rows[i]
            determinant = -determinant
        pivot = rows[i][i]
        determinant *= pivot
        rows[i] = [v / pivot for v in rows[i]]
        for k in range(n):
            if k != i:
                factor = rows[k][i]
                rows[k] = [v - factor * w for v, w in zip(rows[k], rows[i], strict=True)]
    return np.array([row[n:] for row in rows]).reshape((n, n)), determinant


def batch_inv(a):
    return np.array([_eliminated(matrix)[0] for matrix in a]).reshape(a.shape)


def cholesky(a):
    """Row by row, as Banachiewicz has it, of the symmetric part."""
    n = len(a)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            rest = (a[i, j] + a[j, i]) / 2 - math.fsum(low[i, k] * low[j, k] for k in range(j))
            low[i, j] = math.sqrt(rest) if i == j else rest / low[j, j]
    return low


def _running(function):
    def reference(x, axis=None):
        if axis is None:
            return np.array(list(itertools.accumulate(x.ravel().tolist(), function)), float)
        (axis,) = axes_of(axis, x.ndim)
        y = np.empty(x.shape)
        for index in np.ndindex(*x.shape[:axis], *x.shape[axis + 1 :]):
            line = (*index[:axis], slice(None), *index[axis:])
            y[line] = list(itertools.accumulate(x[line].tolist(), function))
        return y

    return reference


def einsum(a, b, subscripts):
    """A loop over every combination of the labels' values."""
    xs = (a, b)
    left, _, output = subscripts.partition("->")
    labels = left.split(",")
    sizes = {
        c: n for part, x in zip(labels, xs, strict=True) for c, n in zip(part, x.shape, strict=True)
    }
    y = np.zeros([sizes[c] for c in output])
    for values in itertools.product(*map(range, sizes.values())):
        at = dict(zip(sizes, values, strict=True))
        factors = [x[tuple(at[c] for c in part)] for part, x in zip(labels, xs, strict=True)]
        y[tuple(at[c] for c in output)] += math.prod(map(float, factors))
    return y


def coo_matmul(data, row, col, b, rows):
    dense = np.zeros((rows, len(b)))
    for value, i, j in zip(data, row, col, strict=True):
        dense[i, j] += value
    return dense @ b


REFERENCES = {
    "BatchDet": lambda a: np.array([_eliminated(matrix)[1] for matrix in a], float),
    "BatchInv": batch_inv,
    "Cholesky": cholesky,
    "CooMatMul": coo_matmul,
    "Cumprod": _running(lambda a, b: a * b),
    "Cumsum": _running(lambda a, b: a + b),
    "LogCumSumExp": _running(lambda a, b: max(a, b) + math.log1p(math.exp(-abs(a - b)))),
    "EinSum": einsum,
    "Inv": lambda a: _eliminated(a)[0],
}
