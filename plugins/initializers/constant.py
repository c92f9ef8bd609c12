"""Initializers without random draws: one value everywhere, or a scaled identity."""

from __future__ import annotations

import math

from core.errors.scalars import as_number
from core.link.initializer import Constant, Initializer
from core.typing import AnyArray, DType

__all__ = ["Constant", "Identity", "NaN", "One", "Zero"]


class Zero(Constant):
    """Fill with 0.

    >>> import core
    >>> core.Parameter(core.initializers.Zero(), (2,)).array
    array([0., 0.], dtype=float32)
    """

    def __init__(self, dtype: DType = None) -> None:
        super().__init__(0.0, dtype)


class One(Constant):
    """Fill with 1.

    >>> import core
    >>> core.Parameter(core.initializers.One("float64"), (2,)).array
    array([1., 1.])
    """

    def __init__(self, dtype: DType = None) -> None:
        super().__init__(1.0, dtype)


class NaN(Constant):
    """Fill with NaN, so that using a value that was never set shows in every result.

    >>> import core
    >>> core.Parameter(core.initializers.NaN(), (2,)).array
    array([nan, nan], dtype=float32)
    """

    def __init__(self, dtype: DType = None) -> None:
        super().__init__(math.nan, dtype)


class Identity(Initializer):
    r"""Fills a square matrix with :math:`s I`: `scale` on its diagonal and 0 elsewhere.

    Args:
        scale: The diagonal's value s.
        dtype: The dtype that arrays made for it get.

    >>> import core
    >>> core.Parameter(core.initializers.Identity(2), (2, 2)).array
    array([[2., 0.],
           [0., 2.]], dtype=float32)
    """

    def __init__(self, scale: float = 1.0, dtype: DType = None) -> None:
        super().__init__(dtype)
        self.scale = as_number("Identity", "scale", scale)

    def __call__(self, array: AnyArray) -> None:
        """Fill a square matrix; any other shape is a ValueError."""
        shape = tuple(array.shape)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"Identity: expected a square matrix to fill, got the shape {shape}.")
        array[...] = 0
        for i in range(shape[0]):
            array[i, i] = self.scale
