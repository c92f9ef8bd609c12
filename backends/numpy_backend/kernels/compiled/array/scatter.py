"""Sums into the rows of tables."""

from __future__ import annotations

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import Array, Indices, Read3, Write3, compiled

LEAST = 65536  # elements to be added for each part


@compiled
def _add_rows(
    tables: Write3, rows: Indices, values: Read3, low: int, high: int, start: int, stop: int
) -> None:
    """Add, in their order, the values of some tables that belong to rows `low` to `high`."""
    for k in range(start, stop):
        for i in range(rows.size):
            if low <= rows[i] < high:
                if tables.shape[2] == 1:  # for which a row would have to be made first
                    tables[k, rows[i], 0] += values[k, i, 0]
                else:
                    into, value = tables[k, rows[i]], values[k, i]
                    for j in range(into.size):
                        into[j] += value[j]


def add_rows(tables: Array, rows: Array, values: Array) -> None:
    """Add row i of the values (k, i, n) into the row of each table that `rows[i]` names.

    Threads have tables of their own, or rows where tables are few: none writes beside another.
    """
    rows = np.ascontiguousarray(rows, np.intp)
    values = np.ascontiguousarray(values).reshape(len(tables), rows.size, tables.shape[2])
    parts, n = parallel.bounds(values.size, LEAST), tables.shape[1]
    if len(tables) >= len(parts):
        least = -(-LEAST // max(1, values[0].size))
        parallel.divide(_add_rows, len(tables), least, tables, rows, values, 0, n)
        return
    edges = [n * i // (len(parts) - 1) for i in range(len(parts))]
    whole = 0, len(tables)
    jobs = [(tables, rows, values, *edges[i : i + 2], *whole) for i in range(len(parts) - 1)]
    parallel.each(_add_rows, jobs)
