"""LAMB: Adam's direction, as long as the parameter."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.half import divisor
from plugins.optimizers.hooks.norms import squared_norm
from plugins.optimizers.moments import average


class LAMBRule(UpdateRule):
    """The rule of `LAMB`: moments `m` and `v`."""

    __slots__ = ()

    alpha: float = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-6
    weight_decay_rate: float = 0.0
    ranges = {
        "alpha": "[0, inf)",
        "beta1": "[0, 1)",
        "beta2": "[0, 1)",
        "eps": "[0, inf)",
        "weight_decay_rate": "[0, inf)",
    }
    state_names = ("m", "v")

    def step(self, xp: Any, param: Any, grad: Any, m: Any, v: Any) -> None:
        """One step, in place."""
        average(m, self.beta1, grad)
        average(v, self.beta2, grad * grad)
        mean, square = m / (1 - self.beta1**self.t), v / (1 - self.beta2**self.t)
        direction = mean / divisor(self, xp, xp.sqrt(square) + self.eps)
        change = direction + self.weight_decay_rate * param
        self.move(xp, param, xp.asarray(change))  # NumPy makes scalars where there are no axes

    def move(self, xp: Any, param: Any, change: Any) -> None:
        """The last part of a step, by a change that is of no length yet, and is made use of."""
        change *= self.alpha * _trust(xp, param, change)
        param -= change


def _trust(xp: Any, param: Any, change: Any) -> Any:
    """How many times longer the parameter is than its change; 1 where one of them is 0."""
    size, length = xp.sqrt(squared_norm(param)), xp.sqrt(squared_norm(change))
    ones = xp.ones_like(length)
    ratio = xp.where((size > 0) & (length > 0), size / xp.where(length > 0, length, ones), ones)
    return xp.astype(ratio, param.dtype)


class LAMB(GradientMethod):
    r"""Adam's direction with steps in proportion to each parameter's own length, for large batches.

    .. math::
        m &\leftarrow m + (1 - \beta_1)(g - m), \qquad v \leftarrow v + (1 - \beta_2)(g^2 - v) \\
        u &= \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon} + \lambda \theta \\
        \theta &\leftarrow \theta - \alpha \frac{\|\theta\|}{\|u\|} u

    The norms are those of a whole parameter, which is a layer to the paper. Where one of the two is
    0 their ratio counts as 1.

    Args:
        alpha: The rate :math:`\alpha`.
        beta1: Share of the first moment that is kept.
        beta2: Share of the second moment that is kept.
        eps: Added to the root of the second moment.
        weight_decay_rate: The decay :math:`\lambda`, a part of the direction; so it is multiplied
            by the rate.

    Source: You et al. 2020 (arXiv:1904.00962), algorithm 2.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.LAMB(alpha=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.729])
    """

    rule = LAMBRule

    @property
    def lr(self) -> float:
        """The rate `alpha`, for who observes it. Set that to change it."""
        return float(self.alpha)
