"""State whose arrays have other shapes than their parameter."""

from __future__ import annotations

from typing import Any

from core import Parameter
from core.errors import UpdateError
from core.optimizer import UpdateRule

Shapes = dict[str, tuple[int, ...]]


def zeros(param: Parameter, shapes: Shapes) -> dict[str, Any]:
    """Arrays of zeros by name, of the parameter's dtype and where it is."""
    array, xp = param.array, param.xp
    made = {"dtype": array.dtype, "device": array.device}
    return {name: xp.zeros(shape, **made) for name, shape in shapes.items()}


def check_parts(rule: UpdateRule, param: Parameter, shapes: Shapes) -> None:
    """Raise UpdateError where a rule has state of other shapes, before anything is changed."""
    state = rule.state or {}
    for name, shape in shapes.items():
        if name in state and tuple(state[name].shape) != shape:
            raise UpdateError(
                f"update {param.name or 'of a parameter'}: expected {name!r} of "
                f"{type(rule).__name__} in the shape {shape}, got {tuple(state[name].shape)}, of a "
                "parameter of another shape or with other hyper-parameters. Call setup(link) "
                "again, which begins without state. Nothing has been updated."
            )
