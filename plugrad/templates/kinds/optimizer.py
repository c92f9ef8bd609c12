"""The optimizer `Thing`."""

from typing import Any

import core


class ThingRule(core.UpdateRule):
    """v <- momentum v + (1 - momentum) g, then p <- p - lr v."""

    lr: float = 0.01
    momentum: float = 0.9
    state_names = ("v",)

    def step(self, xp: Any, param: Any, grad: Any, v: Any) -> None:
        """Change `param` and `v` in place."""
        v *= self.momentum
        v += (1.0 - self.momentum) * grad
        param -= self.lr * v


class Thing(core.GradientMethod):
    """Steps against an average of the gradients."""

    rule = ThingRule
