"""Gradients of weights that several operations may share, as at the steps of a sequence."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend.deferred import deferred, worthwhile
from backends.numpy_backend.products import matmul
from backends.numpy_backend.scatter import scatter_add
from backends.numpy_backend.sums import total
from backends.numpy_backend.typing import Array
from core.registry.configuration import current_state

LEAST = 2048  # elements of what comes; less is added up in no time
FLOATS = (np.dtype("float32"), np.dtype("float64"))


def _waits(W: Any, rows: int, columns: int, *arrays: Array) -> bool:
    """Whether the gradient of W had better wait, of floats of one dtype, while nobody looks on."""
    return (
        worthwhile(W, rows, columns)
        and W.spec.dtype in FLOATS
        and all([a.dtype == W.spec.dtype for a in arrays])
        and not current_state().slow_path
    )


def _product(g: Array, x: Array) -> Any:
    return matmul(g.T, x)


def linear_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """The formula's; that of W is a product that waits."""
    x, W = f._sources[:2]
    columns = sum(W.spec.shape)
    if not needs_grad & 2 or not _waits(W, len(g), columns, g, x.data):
        return NotImplemented
    gW = deferred(_product, (), prod(W.spec.shape) // columns, g, x.data)
    gx = matmul(g, W.data) if needs_grad & 1 else None
    if len(f._sources) == 2:
        return gx, gW
    return gx, gW, total(g, 0) if needs_grad & 4 else None


def matmul_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """The formula's; that of a weight on the right, as the products of its layers' gradients."""
    a, W = f._sources
    if not needs_grad & 2 or g.ndim != 2 or len(W.spec.shape) != 2:
        return NotImplemented
    columns = sum(W.spec.shape)
    if not _waits(W, len(g), columns, a.data, g):
        return NotImplemented
    gW = deferred(_product, (), prod(W.spec.shape) // columns, a.data, g)
    return matmul(g, W.data.T) if needs_grad & 1 else None, gW


def _table(rows: int, numbers: Array, g: Array) -> Array:
    table = np.zeros((rows, g.shape[1]), g.dtype)
    scatter_add(table, numbers, g)
    return table


def embed_id(f: Any, xp: Any, x: Array, W: Array) -> Any:
    """The formula, in which the rows of numbers left out alone are set to 0."""
    ignored, numbers = f.check_values(xp, x, W)
    rows = W.take(numbers, 0)
    if ignored is not None:
        rows[ignored] = 0
    return rows


def embed_id_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """The formula's, by rows that wait."""
    x, W = f._sources
    if not _waits(W, x.data.size, g.shape[-1], g):
        return NotImplemented
    numbers, rows = x.data.reshape(-1), g.reshape(-1, g.shape[-1])
    if f.ignore_label is not None:
        counted = numbers != f.ignore_label
        numbers, rows = numbers[counted], rows[counted]
    return None, deferred(_table, (W.spec.shape[0],), W.spec.shape[0], numbers, rows)


for _kernel in (linear_gradient, matmul_gradient, embed_id_gradient):
    _kernel.least = LEAST  # type: ignore[attr-defined]
