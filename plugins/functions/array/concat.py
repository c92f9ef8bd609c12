"""Arrays joined along an existing axis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_variable, axes
from core.errors.removed import removed
from core.typing import Array


class Concat(FunctionNode):
    """The inputs one after another along an axis; the gradient is cut up the same way."""

    axis: int = 1
    domain = Domain(
        "(...)*->(...b)",
        xs=anything(),
        settings={"axis": axes("xs")},
        differ="axis",
    )

    def compute(self, xp, *xs):
        return xp.concat(xs, axis=self.axis)

    def gradient(self, xp, g, needs_grad):
        before = (slice(None),) * (self.axis % g.ndim)
        gradients, start = [], 0
        for i, needed in enumerate(needs_grad):
            stop = start + self.input_shape(i)[self.axis]
            gradients.append(g[(*before, slice(start, stop), ...)] if needed else None)
            start = stop
        return tuple(gradients)


@removed()
def concat(xs: Iterable[Array], axis: int = 1) -> Variable:
    """Join arrays along an existing axis.

    Args:
        xs: An iterable of at least one array or Variable, of one dtype, and of one shape but for
            the axis.
        axis: The axis to join along.

    Returns:
        The dtype of `xs`.

    Raises:
        InvalidType: Shapes or dtypes do not fit, or there is no such axis.
        TypeError: `xs` is empty.

    >>> import core.functions as F, numpy as np
    >>> F.concat([np.zeros((1, 2), "f"), np.ones((1, 1), "f")])
    variable([[0., 0., 1.]], dtype=float32)
    """
    return Concat.call(*several("concat", xs), axis=axis)


def hstack(xs: Iterable[Array]) -> Variable:
    """Join arrays along the second axis, or along the first if they have only one.

    Args:
        xs: An iterable of at least one array or Variable, of one dtype.

    Returns:
        The dtype of `xs`; at least one axis.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        TypeError: `xs` is empty.

    >>> import core.functions as F, numpy as np
    >>> F.hstack([np.zeros(1, "f"), np.ones(2, "f")])
    variable([0., 1., 1.], dtype=float32)
    """
    xs = [_with_axes(x, 1) for x in several("hstack", xs)]
    return Concat.call(*xs, axis=0 if xs[0].ndim == 1 else 1)


def vstack(xs: Iterable[Array]) -> Variable:
    """Join arrays along the first axis; arrays with one axis become rows.

    Args:
        xs: An iterable of at least one array or Variable, of one dtype.

    Returns:
        The dtype of `xs`; at least two axes.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        TypeError: `xs` is empty.

    >>> import core.functions as F, numpy as np
    >>> F.vstack([np.zeros(2, "f"), np.ones(2, "f")])
    variable([[0., 0.],
              [1., 1.]], dtype=float32)
    """
    return Concat.call(*[_with_axes(x, 2) for x in several("vstack", xs)], axis=0)


def dstack(xs: Iterable[Array]) -> Variable:
    """Join arrays along the third axis; arrays with one axis become rows of single elements.

    Args:
        xs: An iterable of at least one array or Variable, of one dtype.

    Returns:
        The dtype of `xs`; at least three axes.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        TypeError: `xs` is empty.

    >>> import core.functions as F, numpy as np
    >>> F.dstack([np.zeros(2, "f"), np.ones(2, "f")])
    variable([[[0., 1.],
               [0., 1.]]], dtype=float32)
    """
    return Concat.call(*[_with_axes(x, 3) for x in several("dstack", xs)], axis=2)


def several(where: str, xs: Any) -> list[Any]:
    """The arrays of an iterable that is not empty; one array is taken apart, as by Chainer."""
    try:
        each = iter(xs)
    except TypeError:
        raise TypeError(
            f"{where}: expected a list or tuple of arrays or Variables, got {type(xs).__name__}"
        ) from None
    found = list(each)
    if not found:
        raise TypeError(f"{where}: expected at least one array, got an empty sequence")
    return found


def _with_axes(x: Any, ndim: int) -> Variable:
    """`x` with at least that many axes: new ones first, but the third one last."""
    x = as_variable(x)
    if x.ndim >= ndim:
        return x
    row = (1,) * (min(ndim, 2) - x.ndim) + x.shape
    return x.reshape(row + (1,) * (ndim - len(row)))
