"""Draws from categorical distributions, softened so that they have a gradient."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.activation.softmax import Softmax


@checked
def gumbel_softmax(log_pi: Array, tau: float = 0.1, axis: int = 1) -> Variable:
    """Draw nearly one-hot vectors from categorical distributions.

    y = softmax((ln π + g) / τ) with g from the standard Gumbel distribution. The index of the
    greatest element is distributed by π; the smaller τ, the nearer y comes to one-hot.

    Args:
        log_pi: Logarithms of probabilities, which need not be normalized; floating, (n, k, ...).
        tau: Temperature, above 0.
        axis: The axis of the classes.

    Returns:
        The shape and dtype of `log_pi`, summing to 1 along `axis`.

    Raises:
        InvalidType: `log_pi` is not floating or has no such axis.
        ValueError: `tau` is not above 0.

    Source: Jang, Gu and Poole 2016 (arXiv:1611.01144), equation 2.

    >>> import core.functions as F, numpy as np
    >>> F.gumbel_softmax(np.array([[0, -np.inf]], "f"))
    variable([[1., 0.]], dtype=float32)
    """
    if not tau > 0:
        raise ValueError(f"gumbel_softmax: expected tau above 0, got {tau}")
    log_pi = as_variable(log_pi)
    return Softmax.call((log_pi + _gumbel(log_pi)) / tau, axis)


def _gumbel(like: Variable) -> Any:
    """Standard Gumbel draws: minus logarithms of exponential ones, which are kept off 0."""
    xp, array = like.xp, like.array
    uniform = like.backend.random.uniform(like.shape, "float32", device=like.device)
    with like.backend.beside(array):
        exponential = xp.maximum(-xp.log1p(-uniform), xp.full_like(uniform, 1e-10))
        return xp.astype(-xp.log(exponential), array.dtype)
