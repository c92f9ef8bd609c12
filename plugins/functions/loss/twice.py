"""Activations that a loss applies itself."""

from __future__ import annotations

from typing import Any

from core import FunctionNode, Variable
from core.errors.place import warn


def warn_of_twice(loss: str, x: Any, activation: type[FunctionNode], name: str) -> None:
    """Warn where scores have been through the activation that is part of the loss.

    Nothing else tells of it: training goes on, slower and to a worse end.
    """
    if isinstance(x, Variable) and type(x.creator) is activation:
        warn(
            f"{loss}: the scores come from {name}(), which this loss applies itself: it would be "
            f"applied twice. Give it what went into {name}()."
        )
