"""AdaGrad: rates that decrease with all gradients so far."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.half import divisor


class AdaGradRule(UpdateRule):
    """The rule of `AdaGrad`: the sum `h` of squared gradients."""

    __slots__ = ()

    lr: float = 0.001
    eps: float = 1e-8
    ranges = {"lr": "[0, inf)", "eps": "[0, inf)"}
    state_names = ("h",)

    def step(self, xp: Any, param: Any, grad: Any, h: Any) -> None:
        """One step, in place."""
        h += grad * grad
        param -= self.lr * grad / divisor(self, xp, xp.sqrt(h) + self.eps)


class AdaGrad(GradientMethod):
    r"""Gradient descent whose rates decrease with the gradients that each element has had.

    .. math::
        h \leftarrow h + g^2, \qquad
        \theta \leftarrow \theta - \eta \frac{g}{\sqrt h + \epsilon}

    Args:
        lr: The rate :math:`\eta`.
        eps: Added to the root.

    Source: Duchi et al., Journal of Machine Learning Research 12 (2011), with a diagonal matrix.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.AdaGrad(lr=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.78])
    """

    rule = AdaGradRule
