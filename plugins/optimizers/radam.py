"""RAdam: Adam whose rate is rectified while its second moment is uncertain."""

from __future__ import annotations

import math
from typing import Any

from core.optimizer import GradientMethod
from plugins.optimizers.half import divisor
from plugins.optimizers.moments import MomentsRule

_CERTAIN = 5  # observations of the second moment, from which on it is divided by


class RAdamRule(MomentsRule):
    """The rule of `RAdam`: moments `m` and `v`."""

    __slots__ = ()

    @property
    def observations(self) -> tuple[float, float]:
        """How many gradients the second moment amounts to: now, and after infinitely many."""
        limit = 2 / (1 - self.beta2) - 1
        kept = self.beta2**self.t
        return limit - 2 * self.t * kept / (1 - kept), limit

    @property
    def rate(self) -> tuple[bool, float]:
        """Whether the second moment is certain enough to divide by, and the rate then or else."""
        rate = self.alpha / (1 - self.beta1**self.t)
        now, limit = self.observations
        if now <= _CERTAIN:
            return False, rate
        certain = (now - 4) * (now - 2) * limit / ((limit - 4) * (limit - 2) * now)
        return True, rate * math.sqrt(certain * (1 - self.beta2**self.t))

    def step(self, xp: Any, param: Any, grad: Any, m: Any, v: Any) -> None:
        """One step, in place."""
        self._average(grad, m, v)
        certain, rate = self.rate
        change = rate * m
        if certain:
            change = change / divisor(self, xp, xp.sqrt(v) + self.eps)
        self._move(param, change)


class RAdam(GradientMethod):
    r"""Adam with a rectified rate: it needs no warm-up.

    .. math::
        m &\leftarrow m + (1 - \beta_1)(g - m), \qquad v \leftarrow v + (1 - \beta_2)(g^2 - v) \\
        \rho_\infty &= \frac{2}{1 - \beta_2} - 1, \qquad
            \rho = \rho_\infty - \frac{2 t \beta_2^t}{1 - \beta_2^t} \\
        d &= \frac{\alpha}{1 - \beta_1^t} \begin{cases}
            \sqrt{\dfrac{(\rho - 4)(\rho - 2) \rho_\infty}
                {(\rho_\infty - 4)(\rho_\infty - 2) \rho}}
            \sqrt{1 - \beta_2^t} \, \dfrac{m}{\sqrt v + \epsilon} & \rho > 5 \\
            m & \text{else}
        \end{cases} \\
        \theta &\leftarrow \theta - \eta (d + \lambda \theta)

    The paper divides by the second moment from :math:`\rho > 4` on, where the variance of the rate
    is finite; the limit of 5 is that of the authors' program and of PyTorch. As in `Adam`,
    :math:`\epsilon` is added before the correction of v, and the decay :math:`\lambda` is
    multiplied by `eta` alone.

    Args:
        alpha: The rate :math:`\alpha`.
        beta1: Share of the first moment that is kept.
        beta2: Share of the second moment that is kept.
        eps: Added to the root of the second moment.
        eta: Factor on the whole change, to be scheduled.
        weight_decay_rate: The decay :math:`\lambda`.

    Source: Liu et al. 2020 (arXiv:1908.03265), algorithm 2.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.RAdam(alpha=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.462])
    """

    rule = RAdamRule

    @property
    def lr(self) -> float:
        """The rate of the current step, for who observes it. Set `alpha` to change it."""
        rule: Any = self.create_update_rule()
        rule.t = self.t
        return float(rule.rate[1] if self.t else self.alpha)
