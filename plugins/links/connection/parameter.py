"""A single parameter as a link."""

from __future__ import annotations

from core import Link
from core import Parameter as LearnedVariable
from core.errors.kinds import checked
from core.errors.removed import removed
from core.typing import Array


class Parameter(Link):
    r"""A link with one parameter W, which it returns when called.

    .. math:: y = W

    Args:
        array: What W starts as; it becomes W's own array.

    Shapes: y that of the array.

    >>> import core.links as L, numpy as np
    >>> layer = L.Parameter(np.zeros(2, "f"))
    >>> layer() is layer.W
    True
    """

    @checked
    def __init__(self, array: Array) -> None:
        super().__init__()
        with self.init_scope():
            self.W = LearnedVariable(array)

    @removed("volatile")
    def forward(self) -> LearnedVariable:
        """Return the parameter."""
        return self.W
