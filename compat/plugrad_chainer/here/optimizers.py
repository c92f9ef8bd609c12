"""The classes of update rules under their names: `AdamRule` is the rule of `Adam`."""

from __future__ import annotations

from typing import Any

from core import optimizers
from core.optimizer import Hyperparameter


def __getattr__(name: str) -> Any:
    """The rule of an optimizer, or the class of its hyper-parameters."""
    if name.endswith("Hyperparameter"):
        getattr(optimizers, name.removesuffix("Hyperparameter"))  # which must be one
        return Hyperparameter
    if name.endswith("Rule") and name != "Rule":
        return getattr(optimizers, name.removesuffix("Rule")).rule
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
