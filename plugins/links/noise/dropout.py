"""Dropout as a link."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Axis, Ratio
from plugins.links.function_link import FunctionLink


class Dropout(FunctionLink):
    r"""Set a random part of the elements to 0 in training: `F.dropout` as a link.

    .. math:: y = x \odot M / (1 - r), \quad M_i \in \{0, 1\}

    With `core.config.train` off, y is x.

    Args:
        ratio: The probability r of an element to be dropped, in [0, 1).
        axis: Axes along which each place is dropped or not, with all its elements, as (0, 1) for
            the channels of images; None draws for each element.

    Shapes: x any, floating; y that of x.

    Source: Srivastava et al. 2014, JMLR 15, 1929-1958.

    >>> import core, core.links as L, numpy as np
    >>> with core.using_config("train", False):
    ...     L.Dropout(0.2)(np.ones(2, "f"))
    variable([1., 1.], dtype=float32)
    """

    ratio: Ratio = 0.5
    axis: Axis = None

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        y: Variable = F.dropout(x, self.ratio, axis=self.axis)
        return y
