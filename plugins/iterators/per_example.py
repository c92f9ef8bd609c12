"""What samplers are told of each example."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arrays import backend
from core.errors import InvalidSetting


def per_example(who: str, what: str, given: Any) -> Any:
    """A host array of one axis; InvalidSetting for what is none."""
    found = np.asarray(backend.to_host(given) if hasattr(given, "shape") else given)
    if found.ndim != 1 or not len(found) or found.dtype.kind in "OV":
        raise InvalidSetting(
            f"{who}: expected {what} to have one axis, and an entry for each example of the "
            f"dataset, got {given!r:.60}."
        )
    return found


def check_length(who: str, what: str, length: int, order: Any) -> None:
    """Raise ValueError where the order of a whole dataset is of another length."""
    if len(order) != length:
        raise ValueError(
            f"{who}: expected {what} for each of the {len(order)} examples of the dataset, got "
            f"{length}."
        )
