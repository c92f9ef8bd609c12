"""Which parameters an optimizer moves: those without a gradient too, and shared ones repeatedly."""

from __future__ import annotations

from collections import Counter
from functools import wraps
from typing import Any

from core import GradientMethod
from core.optimizer import together
from core.optimizer.step import Step


class _Again(Step):
    """One more step of a parameter, whose hooks come after the step before."""

    __slots__ = ()

    def call_hooks(self) -> None:
        """Not yet."""


def switch() -> None:
    """Take zeros for missing gradients, and a step for each link that holds a parameter."""
    steps_of, make = GradientMethod._steps_of, together.make

    @wraps(steps_of)
    def _steps_of(self: Any, target: Any) -> list[Step]:
        self.reallocate_cleared_grads()
        steps = steps_of(self, target)
        times = Counter([id(p) for link in target.links() for _, p in link._own_params()])
        for step in list(steps):
            for _ in range(times[id(step.parameter)] - 1):
                again = _Again.of(step.parameter, step.rule)
                if again is not None:
                    steps.append(again)
        return steps

    @wraps(make)
    def make_in_turn(steps: Any) -> None:
        later = [step for step in steps if isinstance(step, _Again)]
        make([step for step in steps if not isinstance(step, _Again)])
        for step in later:
            Step.call_hooks(step)
            make([step])

    GradientMethod._steps_of = _steps_of  # type: ignore[method-assign]
    together.make = make_in_turn
