"""Version 1's way to fill an array by an initializer."""

from __future__ import annotations

from typing import Any

import core
from core import initializers


def init_weight(weights: Any, initializer: Any, scale: float = 1.0) -> None:
    """Fill an array, or the array of a parameter, by an initializer, a number or an array.

    Args:
        weights: What is filled, in place.
        initializer: None stands for `LeCunNormal`.
        scale: What the values are multiplied with.
    """
    array = core.as_array(weights)
    if initializer is None:
        initializer = initializers.LeCunNormal()
    if callable(initializer):
        initializer(array)
    else:
        array[...] = initializer
    if scale != 1.0:
        array *= scale
