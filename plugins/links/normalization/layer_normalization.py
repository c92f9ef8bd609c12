"""Normalization of each example by its own features, with parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec, as_initializer
from core.typing import Array, NotNegative
from plugins.links import arguments


class LayerNormalization(Link):
    r"""Normalize each example by the mean and variance of its features, then scale and shift.

    .. math:: y = \gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta

    Args:
        size: How many features there are; None takes it from the first input. A tuple normalizes
            over as many of the last axes.
        eps: Added to the variance.
        initial_gamma: Initializer of gamma; 1 by default.
        initial_beta: Initializer of beta; 0 by default.

    Shapes: x (..., size) floating; gamma and beta (size,); y that of x.

    Source: Ba, Kiros and Hinton 2016 (arXiv:1607.06450), equation 4.

    >>> import core.links as L, numpy as np
    >>> L.LayerNormalization(2, eps=1e-8)(np.array([[1, 3], [10, 30]], "f"))
    variable([[-1.,  1.],
              [-1.,  1.]], dtype=float32)
    """

    @checked
    def __init__(
        self,
        size: int | tuple[int, ...] | None = None,
        eps: NotNegative = 1e-6,
        initial_gamma: InitializerSpec = None,
        initial_beta: InitializerSpec = None,
    ) -> None:
        super().__init__()
        self.eps = eps
        with self.init_scope():
            self.gamma = Parameter(as_initializer(initial_gamma, 1))
            self.beta = Parameter(as_initializer(initial_beta, 0))
        if size is not None:
            self._initialize((size,) if isinstance(size, int) else tuple(size))

    def _initialize(self, shape: tuple[int, ...]) -> None:
        self.gamma.initialize(shape)
        self.beta.initialize(shape)

    def forward(self, x: Array) -> Variable:
        """Normalize `x` (..., size)."""
        if not self.beta.is_initialized:
            arguments.check_rank(self, x, 1, more=True)
            self._initialize(tuple(x.shape[-1:]))
        return F.layer_normalization(x, self.gamma, self.beta, self.eps)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The size, and what is added under the root."""
        yield "size", arguments.shown_size(self.gamma.array), None
        yield "eps", self.eps, 1e-6
