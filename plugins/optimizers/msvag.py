"""M-SVAG: momentum, each element damped by its variance."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.moments import average


class MSVAGRule(UpdateRule):
    """The rule of `MSVAG`: moments `m` and `v`."""

    __slots__ = ()

    lr: float = 0.1
    beta: float = 0.9
    eta: float = 1.0
    weight_decay_rate: float = 0.0
    ranges = {
        "lr": "[0, inf)",
        "beta": "[0, 1)",
        "eta": "[0, inf)",
        "weight_decay_rate": "[0, inf)",
    }
    state_names = ("m", "v")

    def step(self, xp: Any, param: Any, grad: Any, m: Any, v: Any) -> None:
        """One step, in place."""
        average(m, self.beta, grad)
        average(v, self.beta, grad * grad)
        kept = self.beta**self.t
        mean = m / (1 - kept)
        change = self.lr * mean * self._trust(xp, mean, v / (1 - kept), kept)
        if self.weight_decay_rate:
            change = change + self.weight_decay_rate * param
        param -= self.eta * change

    def _trust(self, xp: Any, mean: Any, square: Any, kept: float) -> Any:
        """The factor of each element; 1 where no more than one gradient shows, so no variance."""
        rho = (1 - self.beta) * (1 + kept) / ((1 + self.beta) * (1 - kept))
        if self.t == 1 or rho == 1:
            return 1.0
        signal = mean * mean
        noise = xp.clip(square - signal, 0, None) * (rho / (1 - rho))
        total = signal + noise
        known = (total > 0) & (total < xp.inf)  # squares that overflow damp all the way
        zero, one = xp.zeros_like(total), xp.ones_like(total)
        return xp.where(known, signal, zero) / xp.where(known, total, one)


class MSVAG(GradientMethod):
    r"""Momentum whose elements are damped by the variance of their gradients (M-SVAG).

    .. math::
        m &\leftarrow \beta m + (1 - \beta) g, \qquad v \leftarrow \beta v + (1 - \beta) g^2 \\
        \hat m &= m / (1 - \beta^t), \qquad \hat v = v / (1 - \beta^t) \\
        \rho &= \frac{(1 - \beta)(1 + \beta^t)}{(1 + \beta)(1 - \beta^t)}, \qquad
            s = \frac{\hat v - \hat m^2}{1 - \rho} \\
        \theta &\leftarrow \theta - \eta \left(\alpha
            \frac{\hat m^2}{\hat m^2 + \rho s} \hat m + \lambda \theta\right)

    At the first step, and with :math:`\beta = 0`, the variance is unknown, and the fraction is 1.

    Args:
        lr: The rate :math:`\alpha`.
        beta: Share :math:`\beta` of both moments that is kept.
        eta: Factor on the whole change, to be scheduled.
        weight_decay_rate: The decay :math:`\lambda`, independent of the rate.

    Source: Balles and Hennig 2018 (arXiv:1705.07774), algorithm 1 and section 4.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.MSVAG(lr=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.467])
    """

    rule = MSVAGRule
