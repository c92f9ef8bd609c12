"""Flattening of examples."""

from __future__ import annotations

from math import prod

from core import Variable
from core import functions as F
from core.typing import Array
from plugins.links import arguments
from plugins.links.function_link import FunctionLink


class Flatten(FunctionLink):
    r"""Flatten each example into a vector; the first axis is kept.

    .. math:: y_{n i} = x_{n\, i_1 \ldots i_k}, \quad i = (\ldots (i_1 s_2 + i_2) s_3 \ldots) + i_k

    with the sizes :math:`s` of the axes. `F.flatten` makes one axis of all, the first included.
    `Linear` does without: it flattens by itself.

    Shapes: x (n, ...), of any dtype; y (n, m), with m elements for each example.

    >>> import core.links as L, numpy as np
    >>> L.Flatten()(np.zeros((2, 3, 4), "f")).shape
    (2, 12)
    """

    def forward(self, x: Array) -> Variable:
        """Flatten each example of x (n, ...)."""
        arguments.check_rank(self, x, 1, more=True)
        return F.reshape(x, (x.shape[0], prod(x.shape[1:])))
