"""The initializer `Thing`."""

from typing import Any

import core


class Thing(core.Initializer):
    """A number everywhere.

    Args:
        value: The number.
        dtype: Of the array where none is given.
    """

    def __init__(self, value: float = 0.1, dtype: Any = None) -> None:
        super().__init__(dtype)
        self.value = value

    def __call__(self, array: Any) -> None:
        """Fill `array` in place."""
        array[...] = self.value
