"""Nesterov's accelerated gradient."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod
from plugins.optimizers.momentum_sgd import MomentumSGDRule


class NesterovAGRule(MomentumSGDRule):
    """The rule of `NesterovAG`; the rate is inside the velocity `v`."""

    __slots__ = ()

    def step(self, xp: Any, param: Any, grad: Any, v: Any) -> None:
        """One step, in place."""
        v *= self.momentum
        v -= self.lr * grad
        param += self.momentum**2 * v - (1 + self.momentum) * self.lr * grad


class NesterovAG(GradientMethod):
    r"""Nesterov's accelerated gradient, in terms of the point that is looked ahead at.

    .. math::
        v \leftarrow \mu v - \eta g, \qquad
        \theta \leftarrow \theta + \mu^2 v - (1 + \mu) \eta g

    The parameter is the point reached by the momentum to come, so that the gradient is taken where
    Nesterov's method wants it. The second formula takes the velocity v after the step, as
    Chainer does. The paper takes the one before the step, which amounts to
    :math:`\theta + \mu v - \eta g` with the one after; PyTorch computes that, and moves otherwise
    from the first step on: `CorrectedNesterovAG`.

    Args:
        lr: The rate :math:`\eta`.
        momentum: The share :math:`\mu` of the velocity that is kept.

    Source: Nesterov 1983; in this form Bengio et al. 2012 (arXiv:1212.0901), section 3.5.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.NesterovAG(lr=0.1).setup(model)
    >>> for step in range(2):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.064])
    """

    rule = NesterovAGRule


class CorrectedNesterovAGRule(MomentumSGDRule):
    """The rule of `CorrectedNesterovAG`; the velocity `v` is free of the rate."""

    __slots__ = ()

    def step(self, xp: Any, param: Any, grad: Any, v: Any) -> None:
        """One step, in place."""
        v *= self.momentum
        v -= grad
        param += self.lr * (self.momentum * v - grad)


class CorrectedNesterovAG(GradientMethod):
    r"""Nesterov's accelerated gradient as in PyTorch, the rate applied to the step as a whole.

    .. math:: v \leftarrow \mu v - g, \qquad \theta \leftarrow \theta + \eta (\mu v - g)

    The parameter is the point that is looked ahead at, as in the paper, and a change of the rate
    acts at once. `NesterovAG` moves otherwise, as Chainer does.

    Args:
        lr: The rate :math:`\eta`.
        momentum: The share :math:`\mu` of the velocity that is kept.

    Source: Nesterov 1983; in this form Bengio et al. 2012 (arXiv:1212.0901), section 3.5.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.CorrectedNesterovAG(lr=0.1).setup(model)
    >>> for step in range(2):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.222])
    """

    rule = CorrectedNesterovAGRule
