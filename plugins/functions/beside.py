"""Arrays that calls are given beside their inputs, such as masks, as settings of an operation."""

from __future__ import annotations

from typing import Any

from core import as_array
from core.arrays import backend
from core.ops.operands import beside_traced


def beside(given: Any, *inputs: Any) -> Any:
    """The array `given`, of the backend and device of the inputs; where these are traced, so is it.

    Raises BackendError where it is of another backend or device.
    """
    found = beside_traced((*inputs, given))
    backend.of(*found)
    return as_array(found[-1])
