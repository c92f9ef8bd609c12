"""The rectifier with learnable slopes."""

from __future__ import annotations

from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec, as_initializer
from core.typing import Array


class PReLU(Link):
    r"""A leaky rectifier with learnable slopes.

    .. math:: y = \begin{cases} x & x \ge 0 \\ W x & x < 0 \end{cases}

    Args:
        shape: Shape of W, that of x from the second axis on, as far as it goes; () is one slope for
            all.
        init: Initializer of W, a number or an array.

    Shapes: x (n, ...) floating; W `shape`; y that of x.

    Source: He et al. 2015 (arXiv:1502.01852), equation 1.

    >>> import core.links as L, numpy as np
    >>> L.PReLU()(np.array([[-4, 4]], "f"))
    variable([[-1.,  4.]], dtype=float32)
    """

    @checked
    def __init__(self, shape: Any = (), init: InitializerSpec = 0.25) -> None:
        super().__init__()
        with self.init_scope():
            self.W = Parameter(as_initializer(init), shape)

    def forward(self, x: Array) -> Variable:
        """Apply the rectifier to x (n, ...)."""
        return F.prelu(x, self.W)
