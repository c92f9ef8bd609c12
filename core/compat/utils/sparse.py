"""Sparse matrices as lists of their elements: the coordinate format."""

from __future__ import annotations

from typing import Any

from core.arrays.backend import of, to_host
from core.errors import InvalidType
from core.graph.variable import Variable, as_array

ORDERS = ("C", "F", "other", None)


class CooMatrix:
    """A sparse matrix, or a batch of them of one shape: values with their rows and columns.

    Args:
        data: The values, (k,) or (batch, k), floating; a Variable keeps its history.
        row: The row of each value, integers of the shape of `data`; -1 for what only fills up.
        col: The column of each value, alike.
        shape: The shape of each matrix, a pair.
        order: How the values are sorted: 'C' row by row, 'F' column by column, 'other' neither;
            None looks it up.
        requires_grad: Whether `data`, given as an array, gets a gradient.

    Attributes: `data` is a Variable, `row` and `col` are arrays; `shape` and `order` as above.

    >>> import numpy as np
    >>> a = CooMatrix(np.array([3, 5], "f"), np.array([0, 1]), np.array([1, 1]), (2, 2))
    >>> a.to_dense()
    array([[0., 3.],
           [0., 5.]], dtype=float32)
    """

    def __init__(
        self,
        data: Any,
        row: Any,
        col: Any,
        shape: Any,
        order: str | None = None,
        requires_grad: bool = False,
    ) -> None:
        of(data, row, col)
        shape = tuple([int(n) for n in shape])
        if len(shape) != 2 or min(shape) <= 0:
            raise ValueError(f"CooMatrix: expected shape to be two positive sizes, got {shape}")
        if order not in ORDERS:
            raise ValueError(
                f"CooMatrix: expected order to be 'C', 'F', 'other' or None: {order!r}"
            )
        if len(data.shape) not in (1, 2) or not data.shape == row.shape == col.shape:
            raise InvalidType(
                "data.shape == row.shape == col.shape, of one or two axes",
                f"{data.shape}, {row.shape} and {col.shape}",
                operation="CooMatrix",
            )
        if not isinstance(data, Variable):
            data = Variable(data, requires_grad=requires_grad)
        self.data: Variable = data
        self.row, self.col = as_array(row), as_array(col)
        self.shape: tuple[int, int] = shape
        self.order = get_order(row, col) if order is None else order

    def to_dense(self) -> Any:
        """The matrix, or the batch of them, as an array with all its zeros."""
        backend, data = self.data.backend, self.data.array
        rows, columns = self.shape
        xp, size = backend.xp, rows * columns
        flat = data if data.ndim == 2 else data[None, :]
        places = xp.where(self.row < 0, size, self.row * columns + self.col)
        places = xp.reshape(places, flat.shape)
        full = xp.zeros((flat.shape[0] * (size + 1),), dtype=data.dtype, device=data.device)
        start = xp.arange(flat.shape[0], dtype=places.dtype, device=data.device) * (size + 1)
        backend.scatter_add(
            full, xp.reshape(places + start[:, None], (-1,)), xp.reshape(flat, (-1,))
        )
        dense = xp.reshape(full, (flat.shape[0], size + 1))[:, :size]
        return xp.reshape(dense, (*data.shape[:-1], rows, columns))


def to_coo(x: Any, ldnz: int | None = None, requires_grad: bool = False) -> CooMatrix:
    """The elements of a matrix that are not 0, or those of each matrix of a batch.

    Args:
        x: An array (n, m) or (batch, n, m), floating.
        ldnz: How many places each matrix of a batch gets at least; what a matrix does not need is
            filled up with zeros at row and column -1.
        requires_grad: Whether the values get a gradient.

    Raises:
        ValueError: `x` is neither a matrix nor a batch of them.

    >>> import numpy as np
    >>> to_coo(np.array([[0, 3], [0, 5]], "f")).col
    array([1, 1], dtype=int32)
    """
    x = as_array(x)
    host = to_host(x)
    if host.ndim not in (2, 3):
        raise ValueError(f"to_coo: expected a matrix or a batch of them, got {host.ndim} axes")
    found = [_elements(matrix) for matrix in (host if host.ndim == 3 else [host])]
    width = max([len(values) for values, _, _ in found], default=0)
    if host.ndim == 3:
        width = max(width, ldnz or 0)
    filler = (0.0, -1, -1)
    parts: list[Any] = [
        [part[i] + [filler[i]] * (width - len(part[i])) for part in found] for i in range(3)
    ]
    data, row, col = parts if host.ndim == 3 else [part[0] for part in parts]
    backend = of(x)
    device = backend.device_of(x)
    return CooMatrix(
        backend.asarray(data, x.dtype, device),
        backend.asarray(row, "int32", device),
        backend.asarray(col, "int32", device),
        host.shape[-2:],
        order="C",
        requires_grad=requires_grad,
    )


def _elements(matrix: Any) -> tuple[list[float], list[int], list[int]]:
    rows, columns = matrix.nonzero()
    return matrix[rows, columns].tolist(), rows.tolist(), columns.tolist()


def get_order(row: Any, col: Any) -> str:
    """How coordinates are sorted: 'C' row by row, 'F' column by column, or 'other'.

    >>> import numpy as np
    >>> get_order(np.array([1, 0]), np.array([0, 1]))
    'F'
    """
    rows, columns = to_host(row), to_host(col)
    if rows.ndim == 1:
        rows, columns = rows[None], columns[None]
    pairs = [
        [pair for pair in zip(r, c, strict=True) if pair[0] >= 0]
        for r, c in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    if all([one == sorted(one) for one in pairs]):
        return "C"
    return "F" if all([one == sorted(one, key=_by_column) for one in pairs]) else "other"


def _by_column(pair: tuple[int, int]) -> tuple[int, int]:
    return pair[1], pair[0]
