"""The different elements of an array; their number depends on the values."""

from __future__ import annotations

from typing import NamedTuple

from core import Variable, as_variable
from core.graph.variable import wrap
from core.typing import Array
from plugins.functions.array.reshape import reshape
from plugins.functions.array.take import Take


class UniqueAll(NamedTuple):
    """The elements, the first place of each, the place of each among them, how often each is."""

    values: Variable
    indices: Variable
    inverse_indices: Variable
    counts: Variable


class UniqueCounts(NamedTuple):
    """The elements, and how often each is there."""

    values: Variable
    counts: Variable


class UniqueInverse(NamedTuple):
    """The elements, and the place of each of the array's among them."""

    values: Variable
    inverse_indices: Variable


def unique_all(x: Array, /) -> UniqueAll:
    """Each different element once, in order; the gradient goes to its first place.

    A NaN differs from every other.

    >>> import numpy as np
    >>> found = unique_all(np.array([3.0, 1.0, 3.0]))
    >>> found.values, found.counts
    (variable([1., 3.]), variable([1, 2]))
    """
    x = as_variable(x)
    _, indices, inverse, counts = map(wrap, map(x.backend.asarray, x.xp.unique_all(x.array)))
    values = Take.call(reshape(x, (x.size,)), indices, axis=0)
    return UniqueAll(values, indices, reshape(inverse, x.shape), counts)


def unique_counts(x: Array, /) -> UniqueCounts:
    """Each different element once, and how often it is there.

    >>> import numpy as np
    >>> unique_counts(np.array([2, 2])).counts
    variable([2])
    """
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Array, /) -> UniqueInverse:
    """Each different element once, and where among them each element of the array is.

    >>> import numpy as np
    >>> unique_inverse(np.array([7, 5, 7])).inverse_indices
    variable([1, 0, 1])
    """
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Array, /) -> Variable:
    """Each different element once.

    >>> import numpy as np
    >>> unique_values(np.array([7, 5, 7]))
    variable([5, 7])
    """
    return unique_all(x).values
