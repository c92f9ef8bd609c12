"""Gradient descent with momentum."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule


class MomentumSGDRule(UpdateRule):
    """The rule of `MomentumSGD`; the rate is inside the velocity `v`."""

    __slots__ = ()

    lr: float = 0.01
    momentum: float = 0.9
    ranges = {"lr": "[0, inf)", "momentum": "(-1, 1]"}
    state_names = ("v",)

    def step(self, xp: Any, param: Any, grad: Any, v: Any) -> None:
        """One step, in place."""
        v *= self.momentum
        v -= self.lr * grad
        param += v


class MomentumSGD(GradientMethod):
    r"""Gradient descent with momentum.

    .. math:: v \leftarrow \mu v - \eta g, \qquad \theta \leftarrow \theta + v

    The rate is part of the velocity, so that a change of it acts with delay; libraries that keep
    :math:`v \leftarrow \mu v + g` and multiply afterwards (as PyTorch) agree at a constant rate.

    Args:
        lr: The rate :math:`\eta`.
        momentum: The share :math:`\mu` of the velocity that is kept.

    Source: Polyak, USSR Computational Mathematics 4 (1964).

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.MomentumSGD(lr=0.1).setup(model)
    >>> for step in range(2):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.46])
    """

    rule = MomentumSGDRule
