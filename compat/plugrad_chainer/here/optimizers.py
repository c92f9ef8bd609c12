"""The classes of update rules under their names: `AdamRule` is the rule of `Adam`."""

from __future__ import annotations

from functools import wraps
from typing import Any

from core import optimizers
from core.optimizer import Hyperparameter

_done: list[bool] = []


def _without_lam(init: Any) -> Any:
    """The constructor of Adam, with the rate of the first versions by which `beta1` got smaller."""

    @wraps(init)
    def __init__(self: Any, *args: Any, lam: float | None = None, **kwargs: Any) -> None:
        if lam is not None and not 1 - 1e-7 < lam <= 1:
            raise ValueError(
                f"Adam: a lam of {lam} is no more; beta1 stays what it is. Leave it out."
            )
        init(self, *args, **kwargs)

    return __init__


def __getattr__(name: str) -> Any:
    """The rule of an optimizer, or the class of its hyper-parameters."""
    if name.endswith("Hyperparameter"):
        getattr(optimizers, name.removesuffix("Hyperparameter"))  # which must be one
        return Hyperparameter
    if name.endswith("Rule") and name != "Rule":
        return getattr(optimizers, name.removesuffix("Rule")).rule
    if name == "Adam":
        if not _done:
            _done.append(True)
            cls: Any = optimizers.Adam
            cls.__init__ = _without_lam(cls.__init__)
        return optimizers.Adam
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
