"""Adding to some elements."""

from __future__ import annotations

from typing import Any

from core import Variable, as_array, as_variable
from core.typing import Array, Index
from plugins.functions.array.get_item import ScatterAdd, get_item
from plugins.functions.refusal import require


def scatter_add(a: Array, slices: Index, b: Array) -> Variable:
    """Copy `a` and add `b` at an index, as often as the index contains a place.

    Args:
        a: Of any shape and dtype.
        slices: An index as in `a[slices]`: numbers, slices, None, ..., arrays of integers.
        b: Of the dtype of `a` and the shape of `a[slices]`.

    Returns:
        The shape and dtype of `a`.

    Raises:
        InvalidType: `b` has another shape or dtype.
        IndexError: The index does not fit the shape.

    >>> import core.functions as F, numpy as np
    >>> F.scatter_add(np.zeros(3, "f"), [0, 0, 2], np.array([1, 2, 3], "f"))
    variable([3., 0., 3.], dtype=float32)
    """
    a, b = as_variable(a), as_variable(b)
    if isinstance(slices, tuple):
        slices = tuple([_index(a, part) for part in slices])
    slices = _index(a, slices)
    shape = get_item(a.array, slices).shape
    require("scatter_add", ("b.shape == a[slices].shape", b.shape, shape))
    return a + ScatterAdd.call(b, slices=slices, shape=a.shape)


def _index(a: Variable, part: Any) -> Any:
    """A list as an array of the backend, a Variable as its array, anything else itself."""
    if isinstance(part, list):
        return a.backend.asarray(part, None, a.device)
    return as_array(part)
