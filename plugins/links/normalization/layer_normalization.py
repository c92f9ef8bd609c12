"""Normalization of each example by its own features, with parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Link, Parameter, Variable, as_array
from core import functions as F
from core.arrays import backend
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
        use_gamma: Whether to scale; else gamma is None, and 1 in the formula.
        use_beta: Whether to shift; else beta is None, and 0.

    Shapes: x (..., size) floating; gamma and beta (size,); y that of x.

    Source: Ba, Kiros and Hinton 2016 (arXiv:1607.06450), equation 4.

    >>> import core.links as L, numpy as np
    >>> L.LayerNormalization(2, eps=1e-8)(np.array([[1, 3], [10, 30]], "f"))
    variable([[-1.,  1.],
              [-1.,  1.]], dtype=float32)
    """

    gamma: Parameter | None
    beta: Parameter | None

    @checked
    def __init__(
        self,
        size: int | tuple[int, ...] | None = None,
        eps: NotNegative = 1e-6,
        initial_gamma: InitializerSpec = None,
        initial_beta: InitializerSpec = None,
        *,
        use_gamma: bool = True,
        use_beta: bool = True,
    ) -> None:
        super().__init__()
        self.eps = eps
        self.gamma = self.beta = None
        self._shape: tuple[int, ...] | None = None
        dtype = arguments.statistics_dtype()
        with self.init_scope():
            if use_gamma:
                self.gamma = Parameter(as_initializer(initial_gamma, 1, dtype))
            if use_beta:
                self.beta = Parameter(as_initializer(initial_beta, 0, dtype))
        if size is not None:
            self._initialize_params((size,) if isinstance(size, int) else tuple(size))

    def _initialize_params(self, shape: tuple[int, ...]) -> None:
        for parameter in self.params():
            parameter.initialize(shape)
        self._shape = shape

    def forward(self, x: Array) -> Variable:
        """Normalize `x` (..., size)."""
        shape = self._known_shape()
        if shape is None:
            arguments.check_rank(self, x, 1, more=True)
            shape = tuple(x.shape[-1:])
            self._initialize_params(shape)
        for parameter in self.params():
            if arguments.is_narrower(x, parameter):
                return F.cast(self.forward(F.cast(x, parameter.dtype)), x.dtype)
        gamma = _constant(x, shape, 1) if self.gamma is None else self.gamma
        beta = _constant(x, shape, 0) if self.beta is None else self.beta
        gamma, beta = [
            F.cast(parameter, x.dtype) if arguments.is_narrower(parameter, x) else parameter
            for parameter in (gamma, beta)
        ]
        return F.layer_normalization(x, gamma, beta, self.eps)

    def _known_shape(self) -> tuple[int, ...] | None:
        last = self.gamma if self.beta is None else self.beta
        if last is None:
            return self._shape
        return tuple(last.shape) if last.is_initialized else None

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The size, and the settings that differ from their defaults."""
        shape = self._known_shape()
        yield "size", shape[0] if shape is not None and len(shape) == 1 else shape, None
        yield "eps", self.eps, 1e-6
        yield "use_gamma", self.gamma is not None, True
        yield "use_beta", self.beta is not None, True


def _constant(x: Any, shape: tuple[int, ...], value: float) -> Any:
    """What stands for a parameter that is left out."""
    array = as_array(x)
    return backend.of(array).xp.full(shape, value, dtype=array.dtype, device=array.device)
