"""The layer that learns how much of its input to pass on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Chain, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array
from plugins.links.connection.linear import Linear


class Highway(Chain):
    r"""A highway layer.

    .. math:: y = t \odot a(W_h x + b_h) + (1 - t) \odot x, \quad t = \sigma(W_t x + b_t)

    Args:
        in_out_size: Elements k of inputs and outputs.
        nobias: Whether to leave both b out.
        activate: The function a.
        init_Wh: Initializer of W_h, a number or an array; LeCunNormal by default.
        init_Wt: The same of W_t.
        init_bh: The same of b_h; 0 by default.
        init_bt: The same of b_t; by default -1, which lets most of the input through.

    Its children are `plain` and `transform`. Shapes: x (n, k) floating; W_h and W_t (k, k), b_h and
    b_t (k,), y (n, k).

    Source: Srivastava, Greff and Schmidhuber 2015 (arXiv:1505.00387), equation 3.

    >>> import core.links as L, numpy as np
    >>> layer = L.Highway(2, init_Wh=0, init_Wt=0, init_bt=0)
    >>> layer(np.array([[1, 2]], "f"))
    variable([[0.5, 1. ]], dtype=float32)
    """

    @checked
    def __init__(
        self,
        in_out_size: int,
        nobias: bool = False,
        activate: Callable[[Any], Any] = F.relu,
        init_Wh: InitializerSpec = None,
        init_Wt: InitializerSpec = None,
        init_bh: InitializerSpec = None,
        init_bt: InitializerSpec = -1,
    ) -> None:
        super().__init__()
        self.activate = activate
        with self.init_scope():
            self.plain = Linear(in_out_size, in_out_size, nobias, init_Wh, init_bh)
            self.transform = Linear(in_out_size, in_out_size, nobias, init_Wt, init_bt)

    def forward(self, x: Array) -> Variable:
        """Apply the layer to x (n, in_out_size)."""
        gate = F.sigmoid(self.transform(x))
        return F.linear_interpolate(gate, self.activate(self.plain(x)), x)
