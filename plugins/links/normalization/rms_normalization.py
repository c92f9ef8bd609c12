"""Normalization of each example by the size of its features, with scales."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec, as_initializer
from core.typing import Array, NotNegative
from plugins.links import arguments


class RMSNormalization(Link):
    r"""Divide each example by the root of the mean square of its features, then scale it.

    .. math:: y = \gamma \frac{x}{\sqrt{\mathrm{mean}(x^2) + \epsilon}}

    Args:
        size: How many features there are; None takes it from the first input.
        eps: Added to the mean square.
        initial_gamma: Initializer of gamma; 1 by default.

    Shapes: x (..., size) floating; gamma (size,); y that of x.

    Source: Zhang and Sennrich 2019 (arXiv:1910.07467), equation 4.

    >>> import core.links as L, numpy as np
    >>> L.RMSNormalization(2, eps=1e-8, initial_gamma=5)(np.array([[1, 7]], "f"))
    variable([[1., 7.]], dtype=float32)
    """

    @checked
    def __init__(
        self,
        size: int | None = None,
        eps: NotNegative = 1e-5,
        initial_gamma: InitializerSpec = None,
    ) -> None:
        super().__init__()
        self.eps = eps
        with self.init_scope():
            dtype = arguments.statistics_dtype()
            self.gamma = Parameter(as_initializer(initial_gamma, 1, dtype))
        if size is not None:
            self.gamma.initialize((size,))

    def forward(self, x: Array) -> Variable:
        """Normalize `x` (..., size)."""
        if not self.gamma.is_initialized:
            arguments.check_rank(self, x, 1, more=True)
            self.gamma.initialize(tuple(x.shape[-1:]))
        if arguments.is_narrower(x, self.gamma):
            return F.cast(self.forward(F.cast(x, self.gamma.dtype)), x.dtype)
        return F.rms_normalization(x, self.gamma, self.eps)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The size, and what is added under the root."""
        yield "size", arguments.shown_size(self.gamma.array), None
        yield "eps", self.eps, 1e-5
