"""Batch normalization that leans on running statistics (Ioffe 2017, arXiv:1702.03275)."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Variable, as_array, as_variable
from core.errors.kinds import checked
from core.errors.removed import removed
from core.typing import Array
from plugins.functions.array.cast import cast, halves_widened
from plugins.functions.array.reshape import reshape
from plugins.functions.normalization.batch_normalization import (
    BatchNormalization,
    batch_normalization,
    expanded,
    follow,
    reduced_axes,
    refuse_unfit,
)
from plugins.functions.normalization.fixed_batch_normalization import fixed_batch_normalization


@checked
def batch_renormalization(
    x: Array,
    gamma: Array,
    beta: Array,
    rmax: float,
    dmax: float,
    eps: float = 2e-5,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    decay: float = 0.9,
    update_statistics: bool = False,
) -> Variable:
    """Normalize by the batch, corrected towards the running statistics as far as bounds allow.

    y = γ ((x - μ) / √(σ² + ε) r + d) + β with μ and σ² of the batch, r = √(σ² + ε) / √(v + ε)
    clipped to [1 / rmax, rmax], d = (μ - m) / √(v + ε) clipped to [-dmax, dmax], and m and v the
    running statistics. Gradients take r and d for constants. With rmax = 1 and dmax = 0 this is
    batch normalization; without bounds it is normalization by the running statistics.

    Args:
        x: Floating, (n, c, ...).
        gamma: Scales, (c,) or of the shape of several axes of `x` from axis 1 on.
        beta: Shifts, alike.
        rmax: Bound of the correction of the scale, at least 1.
        dmax: Bound of the correction of the mean, at least 0.
        eps: Added to the variances, greater than 0.
        running_mean: An array alike; None stands for zeros.
        running_var: An array alike; None stands for ones.
        decay: How much is left of the running statistics when they are updated.
        update_statistics: Move the running statistics in place, as `batch_normalization` does.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: A bound or `eps` is out of range.

    Source: Ioffe 2017 (arXiv:1702.03275), algorithm 1, with a running variance in place of a
    running deviation.

    >>> import core.functions as F, numpy as np
    >>> one, zero = np.ones(1, "f"), np.zeros(1, "f")
    >>> x = np.array([[1], [3]], "f")
    >>> F.batch_renormalization(x, one, zero, 4, 8, 1e-8, running_mean=one, running_var=4 * one)
    variable([[0.],
              [1.]], dtype=float32)
    """
    if not (eps > 0 and rmax >= 1 and dmax >= 0):
        raise ValueError(
            "batch_renormalization: expected eps above 0, rmax of at least 1 and dmax of at least "
            f"0, got {eps}, {rmax} and {dmax}"
        )
    x, gamma = as_variable(x), as_variable(gamma)
    wide: Any = halves_widened(x, gamma, beta)
    if wide:
        settings: Any = rmax, dmax, eps, running_mean, running_var, decay, update_statistics
        return cast(batch_renormalization(*[*wide, *settings]), x.dtype)
    axis, xp = reduced_axes(None, x.ndim, gamma.ndim), x.xp
    with gamma.backend.beside(gamma.array):
        one, zero = xp.ones_like(gamma.array), xp.zeros_like(gamma.array)
    z, mean, var = BatchNormalization.call(x, one, zero, eps=eps, axis=axis)
    count = prod([x.shape[i] for i in axis])
    if not count:  # there are no statistics to correct
        return batch_normalization(x, gamma, beta, eps=eps)
    for running in (running_mean, running_var):
        if running is not None:
            refuse_unfit(running, gamma.shape)
    m, v = [None if s is None else as_array(s) for s in (running_mean, running_var)]
    with x.backend.beside(mean.array):
        deviation = xp.sqrt((one if v is None else v) + eps)
        r = _clipped(xp, xp.sqrt(var.array + eps) / deviation, 1.0 / rmax, rmax)
        d = _clipped(xp, (mean.array - (zero if m is None else m)) / deviation, -dmax, dmax)
        r, d = xp.astype(r, gamma.dtype), xp.astype(d, gamma.dtype)
    if update_statistics:
        follow(running_mean, running_var, mean, var, count, decay)
    shape = expanded(x.shape, axis)
    return z * reshape(gamma * r, shape) + reshape(gamma * d + beta, shape)


def _clipped(xp: Any, x: Any, low: float, high: float) -> Any:
    return xp.minimum(xp.maximum(x, xp.full_like(x, low)), xp.full_like(x, high))


@removed()
def fixed_batch_renormalization(
    x: Array, gamma: Array, beta: Array, mean: Array, var: Array, eps: float = 2e-5
) -> Variable:
    """Normalize by a given mean and variance: batch renormalization as it is used after training.

    The same as `fixed_batch_normalization` with `axis=None`.

    Args:
        x: Floating, (n, c, ...).
        gamma: Scales, (c,).
        beta: Shifts, alike.
        mean: What is taken off, alike.
        var: What the differences are divided by the root of, alike.
        eps: Added to the variance.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> one, zero = np.ones(1, "f"), np.zeros(1, "f")
    >>> F.fixed_batch_renormalization(np.array([[4]], "f"), one, zero, one, 9 * one, eps=1e-8)
    variable([[1.]], dtype=float32)
    """
    return fixed_batch_normalization(x, gamma, beta, mean, var, eps)
