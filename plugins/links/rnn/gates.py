"""Parameters of several gates in one array, whose rows are assigned to the gates in turn."""

from __future__ import annotations

from typing import Any

from core.arrays import backend
from core.errors.kinds import checked
from core.link.initializer import Initializer


class Interleaved(Initializer):
    """Fills rows k, k + n, k + 2n, ... with the k-th of n initializers, as an array of their own.

    Args:
        initializers: One for each gate.

    >>> import numpy as np
    >>> from core.initializer import Constant
    >>> b = np.empty(4, "f")
    >>> Interleaved(Constant(0), Constant(1))(b)
    >>> b
    array([0., 1., 0., 1.], dtype=float32)
    """

    @checked
    def __init__(self, *initializers: Any) -> None:
        dtypes = [getattr(initializer, "dtype", None) for initializer in initializers]
        super().__init__(next((dtype for dtype in dtypes if dtype is not None), None))
        self.initializers = initializers

    def __call__(self, array: Any) -> None:
        """Fill `array`, whose first axis the number of gates divides."""
        home = backend.of(array)
        for gate, initializer in enumerate(self.initializers):
            part = home.copy(array[gate :: len(self.initializers), ...])
            initializer(part)
            array[gate :: len(self.initializers), ...] = part
