"""ONNX's operators on Variables: name -> function of the run, the node, all values, and inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plugins.imported.operators import (
    attention,
    control,
    elementwise,
    layers,
    losses,
    moving,
    random,
    recurrent,
    reductions,
    resizing,
)

OPERATORS: dict[str, Callable[..., Any]] = {
    **elementwise.OPERATORS,
    **reductions.OPERATORS,
    **moving.OPERATORS,
    **layers.OPERATORS,
    **losses.OPERATORS,
    **resizing.OPERATORS,
    **recurrent.OPERATORS,
    **attention.OPERATORS,
    **control.OPERATORS,
    **random.OPERATORS,
}
"""All that are known."""
