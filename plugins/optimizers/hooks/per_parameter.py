"""The base of hooks that change each gradient separately."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from core import Parameter
from core.errors.known_attributes import KnownAttributes
from core.errors.set_by_init import NeedsInit
from core.optimizer import UpdateRule
from core.typing import AnyArray


class PerParameter(KnownAttributes, NeedsInit, ABC):
    """Call `change(rule, param, grad)` before each step for each parameter with a gradient.

    The hook's name is that of its class, unless it says another.
    """

    name: str
    call_for_each_param: bool = True
    timing: str = "pre"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def __call__(self, rule: Any, param: Parameter) -> None:
        """Change the gradient of one parameter in place."""
        if param.grad is not None:
            self.change(rule, param, param.grad)

    @abstractmethod
    def change(self, rule: UpdateRule, param: Parameter, grad: AnyArray) -> None:
        """Change `grad` in place."""
