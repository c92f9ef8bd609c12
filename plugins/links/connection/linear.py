"""The fully connected layer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Self

from core import Link, Parameter, Variable
from core.errors.kinds import checked, whole
from core.link.initializer import InitializerSpec
from core.typing import Array
from plugins.functions.connection.linear import affine
from plugins.links import arguments


class Linear(Link):
    r"""A fully connected layer.

    .. math:: y = x W^T + b

    Args:
        in_size: Elements of each input; None, or left out (`Linear(out_size)`), takes it from the
            first input.
        out_size: Elements of each output.
        nobias: Whether to leave b out.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.

    Shapes: x (n, ...) floating, its axes after the first flattened to in_size; W (out_size,
    in_size), b (out_size,), y (n, out_size), all of one dtype.

    >>> import core.links as L, numpy as np
    >>> layer = L.Linear(3, 2, initialW=1)
    >>> layer(np.ones((1, 3), "f"))
    variable([[3., 3.]], dtype=float32)
    >>> L.Linear(5)
    Linear(in_size=None, out_size=5): 5 parameters, 1 unsized
    ├─ W  unsized          ?
    └─ b  (5,)    float32  5
    """

    b: Parameter | None

    @checked
    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        nobias: bool = False,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
    ) -> None:
        super().__init__()
        in_size, out_size = arguments.sizes("Linear", in_size, out_size)
        self.in_size = in_size
        self.out_size = out_size
        self.b = None
        with self.init_scope():
            self.W = Parameter(arguments.weight(initialW))
            if not nobias:
                self.b = Parameter(arguments.bias(initial_bias), (out_size,))
        if in_size is not None:
            self._initialize_params(in_size)

    def _initialize_params(self, in_size: int) -> None:
        self.in_size = in_size
        self.W.initialize((self.out_size, in_size))

    def forward(self, x: Array, n_batch_axes: int = 1) -> Variable:
        """Apply the layer; the first `n_batch_axes` axes of `x` are kept, the others flattened."""
        if not self.W.is_initialized:
            n_batch_axes = whole("Linear", "n_batch_axes", n_batch_axes)
            arguments.check_rank(self, x, max(n_batch_axes, 2), more=True)
            self._initialize_params(math.prod(x.shape[n_batch_axes:]))
        return affine(x, self.W, self.b, n_batch_axes)

    @classmethod
    def from_params(cls, W: Array, b: Array | None = None, nobias: bool = False) -> Self:
        """A layer with the given weight (out_size, in_size) and bias (out_size,), copied.

        The layer has the default dtype, `core.config.dtype`.

        >>> import core.links as L, numpy as np
        >>> L.Linear.from_params(np.ones((2, 3), "f")).in_size
        3
        """
        return cls(W.shape[1], W.shape[0], nobias, initialW=W, initial_bias=b)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """Sizes, and whether there is a bias."""
        yield "in_size", self.in_size, 0
        yield "out_size", self.out_size, 0
        yield "nobias", self.b is None, False
