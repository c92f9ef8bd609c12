"""The dataset `Thing`."""

from typing import Any

import numpy as np
from core.dataset import DatasetMixin


class Thing(DatasetMixin):
    """Pairs of a number and its square.

    Args:
        length: How many there are.
    """

    def __init__(self, length: int = 100) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def get_example(self, i: int) -> Any:
        """The pair of number `i`."""
        x = np.array([i / self.length], "f")
        return x, x * x
