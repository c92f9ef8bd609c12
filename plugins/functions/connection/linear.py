"""The affine map of a fully connected layer."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, real
from core.errors import InvalidType
from core.errors.kinds import ARRAY, checked
from core.errors.removed import removed
from core.typing import Array
from plugins.functions.array.reshape import reshape


class LinearFunction(FunctionNode):
    """y = x W^T + b."""

    wide = True
    domain = Domain(
        "(n,k),(m,k),(m)?->(n,m)", x=real(-2, 2), W=real(-2, 2, mixed=True), b=real(-2, 2)
    )

    def compute(self, xp, x, W, b=None):
        y = xp.matmul(x, W.T)
        if b is not None:
            y += b
        return y

    def gradient_x(self, xp, g, W):
        return xp.matmul(g, W)

    def gradient_W(self, xp, g, x):
        return xp.matmul(g.T, x)

    def gradient_b(self, xp, g):
        return xp.sum(g, axis=0)


def linear(x: Array, W: Array, b: Array | None = None, n_batch_axes: int = 1) -> Variable:
    """The affine map y = x Wᵀ + b of a fully connected layer.

    Args:
        x: Floating, (s_1, ..., s_B, ...), of at least two axes; those after the first
            `n_batch_axes` are flattened to in_size elements.
        W: Weights, (out_size, in_size), floating.
        b: Biases, (out_size,), of the dtype of `x`, or None.
        n_batch_axes: How many leading axes of `x` are kept; at least 1.

    Returns:
        (s_1, ..., s_B, out_size), of the dtype of `x`.

    Raises:
        InvalidType: Sizes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.linear(np.ones((1, 2), "f"), np.array([[1, 2], [3, 4]], "f"))
    variable([[3., 7.]], dtype=float32)
    """
    x = as_variable(x)
    if x.ndim <= 2 and type(n_batch_axes) is int and n_batch_axes == 1:
        try:
            return LinearFunction.call(x, W, b)
        except TypeError:
            if b is None or ARRAY.takes(b):
                raise
    return _linear(x, W, b, n_batch_axes)


affine = linear
"""`linear` as links call it, which know its arguments: without the frame that refuses others."""

linear = removed()(linear)


@checked
def _linear(x: Variable, W: Any, b: Array | None, n_batch_axes: int) -> Variable:
    """For more axes than two, flattened; one example without its axis is refused elsewhere."""
    if n_batch_axes < 1:
        raise ValueError(f"linear: expected n_batch_axes of at least 1, got {n_batch_axes}")
    batch = x.shape[:n_batch_axes]
    _refuse_flattening(x, W, n_batch_axes)
    x = reshape(x, (prod(batch), prod(x.shape[n_batch_axes:])))
    y = LinearFunction.call(x, W, b)
    return y if n_batch_axes == 1 else reshape(y, (*batch, y.shape[-1]))


def _refuse_flattening(x: Variable, W: Any, n_batch_axes: int) -> None:
    """Raise where the last axes of `x` would fit the weights, but more of them are flattened."""
    size = prod(x.shape[n_batch_axes:])
    shape: tuple[int, ...] = getattr(W, "shape", ())
    if len(shape) != 2 or size == shape[1]:
        return
    fits = [n for n in range(1, x.ndim) if prod(x.shape[n:]) == shape[1]]
    if fits:
        raise InvalidType(
            f"prod(x.shape[{n_batch_axes}:]) == W.shape[1]",
            f"{size} != {shape[1]}",
            operation="linear",
            cure=f"write n_batch_axes={fits[-1]}: so many axes of x are kept, and only the others "
            "are flattened.",
        )
