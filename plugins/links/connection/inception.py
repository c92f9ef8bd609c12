"""The module of GoogLeNet: parallel convolutions of several sizes."""

from __future__ import annotations

from typing import Any

from core import Chain, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array
from plugins.links.connection.convolution import Convolution2D


class Inception(Chain):
    r"""Parallel convolutions of sizes 1, 3 and 5 and a pooling, after narrow projections.

    With :math:`C_k` a convolution of size k and a rectifier, and [...] joining channels:

    .. math:: y = [C_1(x),\ C_3(C_1(x)),\ C_5(C_1(x)),\ C_1(\mathrm{maxpool}_3(x))]

    Args:
        in_channels: Channels of the input; None takes it from the first input.
        out1: Channels of the output of the convolution of size 1.
        proj3: Channels that the convolution of size 3 sees.
        out3: Channels of its output.
        proj5: Channels that the convolution of size 5 sees.
        out5: Channels of its output.
        proj_pool: Channels that are made of the pooled input.
        conv_init: Initializer of all W, or a number; LeCunNormal by default.
        bias_init: The same of all b; 0 by default.

    Its children are `conv1`, `proj3`, `conv3`, `proj5`, `conv5` and `projp`; each is followed by a
    rectifier. Shapes: x (n, in_channels, h, w) floating; y (n, out1 + out3 + out5 + proj_pool, h,
    w).

    Source: Szegedy et al. 2015 (arXiv:1409.4842), figure 2b.

    >>> import core.links as L, numpy as np
    >>> module = L.Inception(None, 2, 1, 3, 1, 4, 1)
    >>> module(np.ones((1, 2, 6, 6), "f")).shape
    (1, 10, 6, 6)
    """

    @checked
    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj5: int,
        out5: int,
        proj_pool: int,
        conv_init: InitializerSpec = None,
        bias_init: InitializerSpec = None,
    ) -> None:
        super().__init__()
        inits: dict[str, Any] = {"initialW": conv_init, "initial_bias": bias_init}
        with self.init_scope():
            self.conv1 = Convolution2D(in_channels, out1, 1, **inits)
            self.proj3 = Convolution2D(in_channels, proj3, 1, **inits)
            self.conv3 = Convolution2D(proj3, out3, 3, pad=1, **inits)
            self.proj5 = Convolution2D(in_channels, proj5, 1, **inits)
            self.conv5 = Convolution2D(proj5, out5, 5, pad=2, **inits)
            self.projp = Convolution2D(in_channels, proj_pool, 1, **inits)

    def forward(self, x: Array) -> Variable:
        """Apply the module to images (n, in_channels, h, w)."""
        branches = [
            self.conv1(x),
            self.conv3(F.relu(self.proj3(x))),
            self.conv5(F.relu(self.proj5(x))),
            self.projp(F.max_pooling_2d(x, 3, stride=1, pad=1)),
        ]
        return F.relu(F.concat(branches, axis=1))
