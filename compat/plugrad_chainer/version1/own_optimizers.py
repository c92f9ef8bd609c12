"""Optimizers of one's own as version 1 had them: `init_state` and `update_one`, no rules.

The first versions hand over arrays (`update_one(param, grad, state)`), later ones a parameter and a
dict (`update_one(param, state)`); which of the two is told by the number of arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import core
from core import GradientMethod, Optimizer

_STEPS = ("update_one", "update_one_cpu", "update_one_gpu")


def switch() -> None:
    """Let them be set up, and make a rule of what they say of one parameter."""
    setup, create = Optimizer.setup, GradientMethod.create_update_rule

    @wraps(setup)
    def with_steps(self: Any, link: Any) -> Any:
        if _is_own(self) and not isinstance(self, GradientMethod):
            cls: Any = type(self)
            self.__class__ = _as_gradient_method(cls)
            return self.setup(link)
        return setup(self, link)

    @wraps(create)
    def create_update_rule(self: Any) -> Any:
        return OwnRule(self) if _is_own(self) else create(self)

    Optimizer.setup = with_steps  # type: ignore[method-assign]
    GradientMethod.create_update_rule = create_update_rule  # type: ignore[method-assign]
    setattr(Optimizer, prepare.__name__, prepare)


def prepare(self: Any) -> None:
    """Nothing: states are made with the first step."""


def _is_own(optimizer: Any) -> bool:
    return any(hasattr(type(optimizer), name) for name in _STEPS)


@cache
def _as_gradient_method(cls: type) -> type:
    return type(cls.__name__, (cls, GradientMethod), {"__module__": cls.__module__})


class OwnRule(core.UpdateRule):
    """The rule of an optimizer of version 1."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__()
        self.optimizer = optimizer

    def init_state(self, param: Any) -> None:
        """What is kept for the parameter."""
        make = self._of("init_state", param)
        if make is None:
            return
        if self._takes_arrays(param):
            self.state["state"] = make(param.array, param.grad)
        else:
            make(param, self.state)

    def update_core(self, param: Any) -> None:
        """One step."""
        step = self._of("update_one", param)
        if step is None or param.grad is None:
            return
        if self._takes_arrays(param):
            step(param.array, param.grad, self.state.get("state"))
        else:
            step(param, self.state)

    def _of(self, name: str, param: Any) -> Callable[..., Any] | None:
        """The method of that name, or the one for where the parameter is."""
        where = "gpu" if param.device.backend.on_gpu else "cpu"
        for each in (name, f"{name}_{where}"):
            method = getattr(self.optimizer, each, None)
            if method is not None:
                return method  # type: ignore[no-any-return]
        return None

    def _takes_arrays(self, param: Any) -> bool:
        step = self._of("update_one", param)
        return step is not None and len(inspect.signature(step).parameters) == 3
