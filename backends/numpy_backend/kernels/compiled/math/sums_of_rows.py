"""Sums of a row, for use in loops: of more than ROWS elements in parts, over these in float64."""

from __future__ import annotations

from typing import Any

from backends.numpy_backend.kernels.compiled.elementary import FLOAT, ZERO
from backends.numpy_backend.kernels.compiler import ROWS, inlined_exactly, inlined_sum


@inlined_sum
def plain_sum(row: Any) -> Any:
    """The sum of a row of ROWS elements at most."""
    total = ZERO
    for i in range(row.size):
        total += row[i]
    return total


@inlined_sum
def plain_squares(row: Any, m: Any) -> Any:
    """The sum of squared differences from `m`, of such a row."""
    total = ZERO
    for i in range(row.size):
        total += (row[i] - m) * (row[i] - m)
    return total


@inlined_sum
def plain_products(given: Any, row: Any, m: Any) -> Any:
    """The sums of `given`, and of `given` times the differences of `row` from `m`."""
    s, p = ZERO, ZERO
    for i in range(given.size):
        s += given[i]
        p += given[i] * (row[i] - m)
    return s, p


@inlined_exactly
def sum_of(row: Any) -> Any:
    """The sum of a row."""
    if row.size <= ROWS:
        return plain_sum(row)
    total = 0.0
    for first in range(0, row.size, ROWS):
        total += plain_sum(row[first : first + ROWS])
    return FLOAT(total)


@inlined_exactly
def squares_of(row: Any, m: Any) -> Any:
    """The sum of squared differences from a number."""
    if row.size <= ROWS:
        return plain_squares(row, m)
    total = 0.0
    for first in range(0, row.size, ROWS):
        total += plain_squares(row[first : first + ROWS], m)
    return FLOAT(total)


@inlined_exactly
def products_of(given: Any, row: Any, m: Any) -> Any:
    """Sums of what is given, and of it times the differences of a row from a number."""
    if row.size <= ROWS:
        return plain_products(given, row, m)
    total, product = 0.0, 0.0
    for first in range(0, row.size, ROWS):
        s, p = plain_products(given[first : first + ROWS], row[first : first + ROWS], m)
        total += s
        product += p
    return FLOAT(total), FLOAT(product)
