"""RMSprop: gradients over their root mean square."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.half import divisor
from plugins.optimizers.moments import average


class RMSpropRule(UpdateRule):
    """The rule of `RMSprop`: the mean `ms` of squared gradients."""

    __slots__ = ()

    lr: float = 0.01
    alpha: float = 0.99
    eps: float = 1e-8
    eps_inside_sqrt: bool = False
    ranges = {"lr": "[0, inf)", "alpha": "[0, 1]", "eps": "[0, inf)"}
    state_names = ("ms",)

    def step(self, xp: Any, param: Any, grad: Any, ms: Any) -> None:
        """One step, in place."""
        average(ms, self.alpha, grad * grad)
        size = xp.sqrt(ms + self.eps) if self.eps_inside_sqrt else xp.sqrt(ms) + self.eps
        param -= self.lr * grad / divisor(self, xp, size)


class RMSprop(GradientMethod):
    r"""Gradient descent by gradients divided by their root mean square.

    .. math::
        s \leftarrow \alpha s + (1 - \alpha) g^2, \qquad
        \theta \leftarrow \theta - \eta \frac{g}{\sqrt s + \epsilon}

    Args:
        lr: The rate :math:`\eta`.
        alpha: Share :math:`\alpha` of the mean square that is kept.
        eps: Added to the root.
        eps_inside_sqrt: Divide by :math:`\sqrt{s + \epsilon}` instead, as TensorFlow does.

    Source: Tieleman and Hinton, lecture 6.5 of "Neural Networks for Machine Learning" (2012).

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.RMSprop(lr=0.01).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.78])
    """

    rule = RMSpropRule
