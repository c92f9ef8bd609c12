"""Function classes that are made of several operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from core import Variable


class Composed(ABC):
    """A base for what is constructed with its settings, and applied or called as a node is."""

    @abstractmethod
    def apply(self, inputs: Iterable[Any]) -> tuple[Variable, ...]:
        """The outputs for Variables or arrays."""

    def __call__(self, *inputs: Any) -> Any:
        """Apply to Variables or arrays: a Variable, or a tuple of them for several outputs."""
        outputs = self.apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs
