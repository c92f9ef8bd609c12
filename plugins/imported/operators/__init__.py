"""ONNX's operators on Variables: name -> function of the run, the node, all values, and inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plugins.imported.operators import (
    attention,
    boxes,
    casting,
    control,
    elementwise,
    fused,
    images,
    layers,
    losses,
    making,
    moving,
    products,
    quantized,
    random,
    recurrent,
    reductions,
    resizing,
    sampling,
    sequences,
    signal,
    tables,
    text,
    training,
    trees,
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
    **products.OPERATORS,
    **making.OPERATORS,
    **casting.OPERATORS,
    **quantized.OPERATORS,
    **sampling.OPERATORS,
    **boxes.OPERATORS,
    **signal.OPERATORS,
    **sequences.OPERATORS,
    **text.OPERATORS,
    **tables.OPERATORS,
    **trees.OPERATORS,
    **training.OPERATORS,
    **images.OPERATORS,
    **fused.OPERATORS,
}
"""All that are known."""

ANY_VALUE = {
    *("Identity", "If", "Loop", "Scan"),
    *sequences.OPERATORS,
    *text.OPERATORS,
    *tables.LOOK_UP,
}
"""Those that take sequences or text as well."""
