"""NAdam: Adam with the momentum of Nesterov."""

from __future__ import annotations

import math
from typing import Any

from core.optimizer import GradientMethod
from plugins.optimizers.half import divisor
from plugins.optimizers.moments import MomentsRule

_FORGOTTEN = 2.0**-54  # of a product that is taken from 1: what float64 does not show
_MOST = 64  # products that are kept, to be gone on with

_latest: dict[tuple[float, float], tuple[int, float]] = {}


class NAdamRule(MomentsRule):
    """The rule of `NAdam`: moments `m` and `v`."""

    __slots__ = ()

    alpha: float = 0.002
    momentum_decay: float = 0.004
    ranges = {"momentum_decay": "[0, inf)"}

    @property
    def rates(self) -> tuple[float, float]:
        """The rates of the gradient and of the first moment in the present step."""
        now, ahead = (momentum(t, self.beta1, self.momentum_decay) for t in (self.t, self.t + 1))
        kept = _product(self.t, self.beta1, self.momentum_decay)
        return self.alpha * (1 - now) / (1 - kept), self.alpha * ahead / (1 - kept * ahead)

    def step(self, xp: Any, param: Any, grad: Any, m: Any, v: Any) -> None:
        """One step, in place."""
        self._average(grad, m, v)
        size = divisor(self, xp, xp.sqrt(v / (1 - self.beta2**self.t)) + self.eps)
        of_gradient, of_moment = self.rates
        self._move(param, (of_gradient * grad + of_moment * m) / size)


def momentum(t: int, beta1: float, decay: float) -> float:
    """The momentum of step `t`, which rises from half of `beta1` to all of it."""
    return beta1 * (1 - 0.5 * math.pow(0.96, t * decay))


def _product(t: int, beta1: float, decay: float) -> float:
    """The product of the momenta of all steps up to `t`; 0 where it is too small to be seen."""
    step, found = _latest.get((beta1, decay), (0, 1.0))
    if step > t:
        step, found = 0, 1.0
    while step < t and found:
        step += 1
        found *= momentum(step, beta1, decay)
        found *= found >= _FORGOTTEN
    if len(_latest) >= _MOST:
        _latest.clear()
    _latest[beta1, decay] = step, found
    return found


class NAdam(GradientMethod):
    r"""Adam that takes the gradient where the momentum is going to lead.

    .. math::
        m &\leftarrow m + (1 - \beta_1)(g - m), \qquad v \leftarrow v + (1 - \beta_2)(g^2 - v) \\
        \mu_t &= \beta_1 \left(1 - \tfrac{1}{2} 0.96^{t \psi}\right), \qquad
            M_t = \prod_{i=1}^{t} \mu_i \\
        d &= \frac{\alpha}{\sqrt{v / (1 - \beta_2^t)} + \epsilon} \left(
            \frac{1 - \mu_t}{1 - M_t} g + \frac{\mu_{t+1}}{1 - M_{t+1}} m\right) \\
        \theta &\leftarrow \theta - \eta (d + \lambda \theta)

    As in the paper and in PyTorch, :math:`\epsilon` is added after the correction of v. The momenta
    of all steps follow from the present :math:`\beta_1` and :math:`\psi`. The decay
    :math:`\lambda` is that of `AdamW`.

    Args:
        alpha: The rate :math:`\alpha`.
        beta1: Share of the first moment that is kept.
        beta2: Share of the second moment that is kept.
        eps: Added to the root of the second moment.
        eta: Factor on the whole change, to be scheduled.
        weight_decay_rate: The decay :math:`\lambda`.
        momentum_decay: How fast the momentum rises, :math:`\psi`.

    Source: Dozat 2016, "Incorporating Nesterov momentum into Adam", algorithm 2 (ICLR workshop).

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.NAdam(alpha=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.753])
    """

    rule = NAdamRule

    @property
    def lr(self) -> float:
        """The rate `alpha`, for who observes it. Set that to change it."""
        return float(self.alpha)
