"""Sums into the rows of a table."""

from __future__ import annotations

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import Array, Indices, Read2, Write2, compiled

LEAST = 65536  # elements to be added for each part


@compiled
def _add_rows(table: Write2, rows: Indices, values: Read2, start: int, stop: int) -> None:
    """Those of rows `start` to `stop`, in their order."""
    for i in range(rows.size):
        if start <= rows[i] < stop:
            into, value = table[rows[i]], values[i]
            for j in range(into.size):
                into[j] += value[j]


def add_rows(table: Array, rows: Array, values: Array) -> None:
    """Add row i of the values into the row of the table that `rows[i]` names, not below 0."""
    rows = np.ascontiguousarray(rows, np.intp)
    values = np.ascontiguousarray(values).reshape(rows.size, table.shape[1])
    parts = parallel.bounds(values.size, LEAST)
    edges = [len(table) * i // (len(parts) - 1) for i in range(len(parts))]
    jobs = [(table, rows, values, *edges[i : i + 2]) for i in range(len(parts) - 1)]
    parallel.each(_add_rows, jobs)
