"""Normalization by given statistics: batch normalization as it is used after training."""

from __future__ import annotations

from core import Domain, FunctionNode, Variable, as_variable, choice, number, real
from core.errors.kinds import checked
from core.typing import AnyArray, Array, Axes, NotNegative, Shape
from plugins.functions.axes import axes_within
from plugins.functions.normalization.batch_normalization import (
    expanded,
    fits_axes,
    fitting_axes,
    reduced_axes,
)


class FixedBatchNormalization(FunctionNode):
    """y = gamma (x - mean) / sqrt(var + eps) + beta, with given mean and variance."""

    eps: NotNegative = 2e-5
    axis: tuple[int, ...] | None = None

    wide = True
    domain = Domain(
        "(...x),(...p),(...p),(...p),(...p)->(...x)",
        x=real(-3, 3),
        gamma=real(0.5, 2),
        beta=real(-1, 1),
        mean=real(-1, 1),
        var=real(0.5, 2),
        settings={"eps": number(1e-2, 1e-1), "axis": choice(fitting_axes)},
        dims={"...x": (2, 3), "...p": (1, 2)},
        valid=("x.ndim > 0", fits_axes),
    )

    def _shape(self, x: AnyArray) -> Shape:
        return expanded(x.shape, reduced_axes(self.axis, x.ndim))

    def compute(self, xp, x, gamma, beta, mean, var):
        shape = self._shape(x)
        scale = gamma / xp.sqrt(var + self.eps)
        return (x - xp.reshape(mean, shape)) * xp.reshape(scale, shape) + xp.reshape(beta, shape)

    def gradient(self, xp, g, x, gamma, mean, var, needs_grad):
        axis, shape = reduced_axes(self.axis, x.ndim), self._shape(x)
        scale = gamma / xp.sqrt(var + self.eps)
        gx = g * xp.reshape(scale, shape)
        if not any(needs_grad[1:]):
            return gx, None, None, None, None
        gbeta = xp.sum(g, axis=axis)
        centred = xp.sum(g * (x - xp.reshape(mean, shape)), axis=axis)
        ggamma = centred / xp.sqrt(var + self.eps)
        return gx, ggamma, gbeta, -(gbeta * scale), ggamma * gamma / (var + self.eps) * -0.5


@checked
def fixed_batch_normalization(
    x: Array,
    gamma: Array,
    beta: Array,
    mean: Array,
    var: Array,
    eps: float = 2e-5,
    axis: Axes = None,
) -> Variable:
    """Normalize by a given mean and variance, then scale and shift.

    y = γ (x - μ) / √(σ² + ε) + β.

    Args:
        x: Floating, (n, c, ...).
        gamma: Scales, of the shape of `x` without the reduced axes.
        beta: Shifts, alike.
        mean: What is taken off, alike.
        var: What the differences are divided by the root of, alike.
        eps: Added to the variance.
        axis: The axes that the statistics were taken over; None takes the first one and those
            after the axes of `gamma`.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> one, zero = np.ones(1, "f"), np.zeros(1, "f")
    >>> F.fixed_batch_normalization(np.array([[4]], "f"), one, zero, one, 9 * one, eps=1e-8)
    variable([[1.]], dtype=float32)
    """
    x, gamma = as_variable(x), as_variable(gamma)
    if axis is not None:
        axis = axes_within("fixed_batch_normalization", axis, x.ndim)
    axis = reduced_axes(axis, x.ndim, gamma.ndim)
    return FixedBatchNormalization.call(x, gamma, beta, mean, var, eps=eps, axis=axis)
