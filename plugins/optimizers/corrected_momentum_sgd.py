"""Momentum whose velocity does not contain the rate."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod
from plugins.optimizers.momentum_sgd import MomentumSGDRule


class CorrectedMomentumSGDRule(MomentumSGDRule):
    """The rule of `CorrectedMomentumSGD`; the velocity `v` is free of the rate."""

    __slots__ = ()

    def step(self, xp: Any, param: Any, grad: Any, v: Any) -> None:
        """One step, in place."""
        v *= self.momentum
        v -= grad
        param += self.lr * v


class CorrectedMomentumSGD(GradientMethod):
    r"""Gradient descent with momentum, the rate applied to the velocity as a whole.

    .. math:: v \leftarrow \mu v - g, \qquad \theta \leftarrow \theta + \eta v

    A change of the rate acts at once, on the whole velocity, as in PyTorch; at a constant rate it
    is the same as `MomentumSGD`.

    Args:
        lr: The rate :math:`\eta`.
        momentum: The share :math:`\mu` of the velocity that is kept.

    Source: Goyal et al. 2017 (arXiv:1706.02677), equation 9.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.CorrectedMomentumSGD(lr=0.1).setup(model)
    >>> for step in range(2):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.46])
    """

    rule = CorrectedMomentumSGDRule
