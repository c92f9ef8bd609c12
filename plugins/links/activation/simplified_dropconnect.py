"""The fully connected layer that drops weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from core import Link, Parameter, Variable, as_array, config
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Ratio
from plugins.links import arguments


class SimplifiedDropconnect(Link):
    r"""A fully connected layer in which a random part of the weights is 0 in training.

    .. math:: y = x (M \odot W)^T / (1 - r) + b, \quad M_{ij} \in \{0, 1\}

    Args:
        in_size: Elements of each input; None takes it from the first input.
        out_size: Elements of each output.
        ratio: The probability r of a weight to be dropped, in [0, 1).
        nobias: Whether to leave b out.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: The same of b; 0 by default.

    Shapes: x (n, ...) floating, flattened to in_size; W (out_size, in_size), b (out_size,), y (n,
    out_size).

    Source: Wan et al. 2013, "Regularization of neural networks using DropConnect", ICML; outputs
    are not sampled in tests.

    The first mask that a call is given stays as `mask`, and is saved with the link.

    >>> import core.links as L, numpy as np
    >>> layer = L.SimplifiedDropconnect(2, 1, initialW=1)
    >>> layer(np.array([[3, 5]], "f"), mask=np.array([[1, 0]], "f"))
    variable([[6.]], dtype=float32)
    """

    b: Parameter | None

    @checked
    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        ratio: Ratio = 0.5,
        nobias: bool = False,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
    ) -> None:
        super().__init__()
        self.out_size = out_size
        self.ratio = ratio
        self.b = None
        with self.init_scope():
            self.W = Parameter(arguments.weight(initialW))
            if not nobias:
                self.b = Parameter(arguments.bias(initial_bias), (out_size,))
        if in_size is not None:
            self._initialize_params(in_size)

    def _initialize_params(self, in_size: int) -> None:
        self.W.initialize((self.out_size, in_size))

    def forward(
        self,
        x: Array,
        train: bool = True,
        mask: Array | None = None,
        use_batchwise_mask: bool = True,
    ) -> Variable:
        """Apply the layer.

        Args:
            x: Its input, (n, ...).
            train: False drops nothing, as `config.train` being off.
            mask: The M to take instead of a random one, (out_size, in_size) or (n, out_size,
                in_size).
            use_batchwise_mask: Whether each example has an M of its own.
        """
        if not self.W.is_initialized:
            arguments.check_rank(self, x, 2, more=True)
            self._initialize_params(math.prod(x.shape[1:]))
        if mask is not None and "mask" not in vars(self):
            self.add_persistent("mask", as_array(mask))
        return F.simplified_dropconnect(
            x, self.W, self.b, self.ratio, train and config.train, mask, use_batchwise_mask
        )

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The size of outputs, and the share of weights that is dropped."""
        yield "out_size", self.out_size, 0
        yield "ratio", self.ratio, 0.5
        yield "nobias", self.b is None, False
