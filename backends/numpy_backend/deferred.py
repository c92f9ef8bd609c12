"""Gradients that are added up before they are computed.

A weight that is used at every step of a sequence gets a gradient from each: a product of a few
rows, as large as the weight, and a pass over memory to add it to the others. Where the factors are
much smaller than their product they are kept in its place, and one product is made of all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend.typing import Array

SMALLER = 4  # times than what is made of them: factors that are worth while to keep


class Deferred:
    """The gradient `combine(*settings, *factors)`, where further rows of the factors add to it.

    To the walk over a graph it is an array that others are added to, and NumPy makes an array of
    it. When there are `most` rows, what takes as much memory as the gradient, it is computed.
    """

    __slots__ = ("_made", "_parts", "_total")

    def __init__(
        self,
        made: tuple[Callable[..., Array], tuple[Any, ...], int],
        parts: list[tuple[Array, ...]],
        total: Array | None = None,
    ) -> None:
        self._made = made
        self._parts = parts
        self._total = total
        if sum([len(factors[0]) for factors in parts]) > made[2]:
            self._total, self._parts = self._sum(), []

    def _sum(self) -> Array:
        if not self._parts and self._total is not None:
            return self._total
        combine, settings, _ = self._made
        columns = zip(*self._parts, strict=True)
        factors = [each[0] if len(each) == 1 else np.concatenate(each) for each in columns]
        found = combine(*settings, *factors)
        return found if self._total is None else np.add(found, self._total, out=found)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The gradient."""
        found = self._sum()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Deferred) and other._made == self._made and other._total is None:
            return Deferred(self._made, [*self._parts, *other._parts], self._total)
        return self._sum() + np.asarray(other)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """What NumPy computes from it as an array, as where it is added to one, in place or not."""
        arrays = [x._sum() if isinstance(x, Deferred) else x for x in inputs]
        return getattr(ufunc, method)(*arrays, **options)


def worthwhile(source: Any, rows: int, columns: int) -> bool:
    """Whether a gradient may wait that is made of so many rows, of all factors side by side.

    That of a leaf may: nothing is computed from it before the end of the walk.
    """
    return source._sources is None and rows * columns * SMALLER <= prod(source.spec.shape)


def deferred(
    combine: Callable[..., Array], settings: tuple[Any, ...], most: int, *factors: Array
) -> Deferred:
    """One of whose factors there are to be `most` rows at once."""
    return Deferred((combine, settings, most), [factors])
