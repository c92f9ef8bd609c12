"""RMSprop by the variance, with momentum."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.half import divisor
from plugins.optimizers.moments import average


class RMSpropGravesRule(UpdateRule):
    """The rule of `RMSpropGraves`: means `n` of squares and `g` of gradients, change `delta`."""

    __slots__ = ()

    lr: float = 1e-4
    alpha: float = 0.95
    momentum: float = 0.9
    eps: float = 1e-4
    ranges = {"lr": "[0, inf)", "alpha": "[0, 1]", "momentum": "(-1, 1]", "eps": "[0, inf)"}
    state_names = ("n", "g", "delta")

    def step(self, xp: Any, param: Any, grad: Any, n: Any, g: Any, delta: Any) -> None:
        """One step, in place."""
        average(n, self.alpha, grad * grad)
        average(g, self.alpha, grad)
        root, mean = xp.sqrt(n), abs(g)  # g * g may overflow where n has, and inf - inf is NaN
        variance = xp.maximum(root - mean, xp.zeros_like(n)) * (root + mean)
        delta *= self.momentum
        delta -= self.lr * grad / divisor(self, xp, xp.sqrt(variance + self.eps))
        param += delta


class RMSpropGraves(GradientMethod):
    r"""RMSprop that divides by the standard deviation of gradients, with momentum.

    .. math::
        n &\leftarrow \alpha n + (1 - \alpha) g^2 \\
        \bar g &\leftarrow \alpha \bar g + (1 - \alpha) g \\
        \delta &\leftarrow \mu \delta - \eta \frac{g}{\sqrt{n - \bar g^2 + \epsilon}} \\
        \theta &\leftarrow \theta + \delta

    Args:
        lr: The rate :math:`\eta`.
        alpha: Share :math:`\alpha` of both means that is kept.
        momentum: The share :math:`\mu` of the change that is kept.
        eps: Added under the root.

    Source: Graves 2013 (arXiv:1308.0850), equations 38 to 41.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.RMSpropGraves(lr=0.01).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.786])
    """

    rule = RMSpropGravesRule
