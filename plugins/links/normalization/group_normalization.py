"""Normalization of each example by groups of its channels, with parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec, as_initializer
from core.typing import Array, Count, NotNegative
from plugins.links import arguments


class GroupNormalization(Link):
    r"""Normalize each example by the statistics of groups of channels, then scale and shift.

    .. math:: y = \gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta

    The mean and variance are those of the neighbouring channels of a group at all places.

    Args:
        groups: Into how many groups the channels are divided.
        size: How many channels there are; None takes it from the first input.
        eps: Added to the variance.
        initial_gamma: Initializer of gamma; 1 by default.
        initial_beta: Initializer of beta; 0 by default.

    Shapes: x (n, size, ...) floating; gamma and beta (size,); y that of x.

    Source: Wu and He 2018 (arXiv:1803.08494), equations 1 to 6.

    >>> import core.links as L, numpy as np
    >>> L.GroupNormalization(2, eps=1e-8)(np.array([[1, 3, 10, 30]], "f"))
    variable([[-1.,  1., -1.,  1.]], dtype=float32)
    """

    @checked
    def __init__(
        self,
        groups: Count,
        size: int | None = None,
        eps: NotNegative = 1e-5,
        initial_gamma: InitializerSpec = None,
        initial_beta: InitializerSpec = None,
    ) -> None:
        super().__init__()
        self.groups = groups
        self.eps = eps
        with self.init_scope():
            dtype = arguments.statistics_dtype()
            self.gamma = Parameter(as_initializer(initial_gamma, 1, dtype))
            self.beta = Parameter(as_initializer(initial_beta, 0, dtype))
        if size is not None:
            self._initialize_params(size)

    def _initialize_params(self, size: int) -> None:
        self.gamma.initialize((size,))
        self.beta.initialize((size,))

    def forward(self, x: Array) -> Variable:
        """Normalize `x` (n, size, ...)."""
        if not self.beta.is_initialized:
            arguments.check_rank(self, x, 2, more=True)
            self._initialize_params(x.shape[1])
        if arguments.is_narrower(x, self.gamma):
            return F.cast(self.forward(F.cast(x, self.gamma.dtype)), x.dtype)
        return F.group_normalization(x, self.groups, self.gamma, self.beta, self.eps)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The number of groups, the size, and what is added to the variance."""
        yield "groups", self.groups, 0
        yield "size", arguments.shown_size(self.gamma.array), None
        yield "eps", self.eps, 1e-5
