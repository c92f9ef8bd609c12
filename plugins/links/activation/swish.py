"""Inputs weighted by their own sigmoid, with learnable steepness."""

from __future__ import annotations

from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec, as_initializer
from core.typing import Array
from plugins.links import arguments


class Swish(Link):
    r"""A smooth rectifier with learnable sharpness.

    .. math:: y = x \, \sigma(\beta x)

    Args:
        beta_shape: Shape of beta, that of x from the second axis on, as far as it goes; None takes
            all of these axes from the first input.
        beta_init: Initializer of beta, a number or an array.

    Shapes: x (n, ...) floating; beta `beta_shape`; y that of x.

    Source: Ramachandran, Zoph and Le 2017 (arXiv:1710.05941).

    >>> import core.links as L, numpy as np
    >>> L.Swish((), beta_init=0)(np.array([[-4, 4]], "f"))
    variable([[-2.,  2.]], dtype=float32)
    """

    @checked
    def __init__(self, beta_shape: Any, beta_init: InitializerSpec = 1.0) -> None:
        super().__init__()
        with self.init_scope():
            self.beta = Parameter(as_initializer(beta_init), beta_shape)

    def forward(self, x: Array) -> Variable:
        """Apply the activation to x (n, ...)."""
        if not self.beta.is_initialized:
            arguments.check_rank(self, x, 1, more=True)
            self.beta.initialize(tuple(x.shape[1:]))
        return F.swish(x, self.beta)
