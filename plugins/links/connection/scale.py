"""The layer that multiplies along some axes."""

from __future__ import annotations

from core import Chain, Parameter, Variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array
from plugins.links.connection.bias import Bias, with_factor


class Scale(Chain):
    r"""Multiply by a parameter, or a second input, along some axes, and optionally add a bias.

    .. math:: y_{\vec i \vec a \vec j} = x_{\vec i \vec a \vec j} \, W_{\vec a} \; (+ \, b_{\vec a})

    Args:
        axis: The first axis of x that W stands along.
        W_shape: Shape of W, that of x from `axis` on, as far as it goes; it starts as 1. None makes
            no parameter: the factor is then the second input.
        bias_term: Whether a `Bias` along the same axes follows, as the child `bias`.
        bias_shape: Shape of its parameter where W_shape is None.

    Shapes: x any, floating; W and the bias as said; y that of x.

    >>> import core.links as L, numpy as np
    >>> layer = L.Scale(axis=1, W_shape=(3,), bias_term=True)
    >>> layer.W.array[...] = [1, 2, 3]
    >>> layer(np.ones((2, 3), "f"))
    variable([[1., 2., 3.],
              [1., 2., 3.]], dtype=float32)
    """

    W: Parameter | None
    bias: Bias | None

    @checked
    def __init__(
        self,
        axis: int = 1,
        W_shape: tuple[int, ...] | None = None,
        bias_term: bool = False,
        bias_shape: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__()
        self.axis = axis
        self.W = self.bias = None
        shape = bias_shape if W_shape is None else W_shape
        if bias_term and shape is None:
            raise ValueError(
                "links.Scale: expected a shape for the bias, got none. Give W_shape or bias_shape."
            )
        with self.init_scope():
            if W_shape is not None:
                self.W = Parameter(1, W_shape)
            if bias_term:
                self.bias = Bias(axis, shape)

    def forward(self, *xs: Array) -> Variable:
        """Apply the layer to x, or to x and its factor."""
        x, W = with_factor("Scale", xs, self.W, "W_shape")
        y = F.scale(x, W, self.axis)
        return y if self.bias is None else self.bias(y)
