"""What samplers are told of each example."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arrays import backend
from core.arrays.array_backend import unwrapped
from core.errors import InvalidSetting
from core.graph.fitting import is_array


def per_example(who: str, what: str, given: Any, kinds: str = "biufUS") -> Any:
    """A host array of one axis, of one of NumPy's kinds of dtypes; InvalidSetting for others."""
    given = unwrapped(given)
    found = np.asarray(backend.to_host(given) if is_array(given) else given)
    if found.ndim != 1 or not len(found) or found.dtype.kind not in kinds:
        names = "numbers or names" if "U" in kinds else "numbers"
        raise InvalidSetting(
            f"{who}: expected {what} to have one axis of {names}, an entry for each example of the "
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
