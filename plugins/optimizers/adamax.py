"""AdaMax: Adam by the largest gradient in place of the mean square."""

from __future__ import annotations

from typing import Any, ClassVar

from core.optimizer import GradientMethod
from plugins.optimizers.half import divisor
from plugins.optimizers.moments import MomentsRule, average


class AdaMaxRule(MomentsRule):
    """The rule of `AdaMax`: the first moment `m`, and the largest gradient `u`."""

    __slots__ = ()

    alpha: float = 0.002
    state_names: ClassVar[tuple[str, ...]] = ("m", "u")

    @property
    def rate(self) -> float:
        """The rate `alpha` with the bias correction of the present step."""
        return float(self.alpha / (1 - self.beta1**self.t))

    def step(self, xp: Any, param: Any, grad: Any, m: Any, u: Any) -> None:
        """One step, in place."""
        average(m, self.beta1, grad)
        u[...] = xp.maximum(self.beta2 * u, abs(grad) + self.eps)
        self._move(param, self.rate * m / divisor(self, xp, u))


class AdaMax(GradientMethod):
    r"""Adam that divides by the largest gradient, which it forgets by and by.

    .. math::
        m &\leftarrow m + (1 - \beta_1)(g - m), \qquad
            u \leftarrow \max(\beta_2 u, |g| + \epsilon) \\
        \theta &\leftarrow \theta - \eta \left(
            \frac{\alpha}{1 - \beta_1^t} \frac{m}{u} + \lambda \theta\right)

    No element moves by much more than the rate in a step. In the paper the first gradient must not
    be 0, for there is no :math:`\epsilon`; it stands where PyTorch has it. The decay
    :math:`\lambda` is that of `AdamW`; PyTorch's, a part of the gradient, is the hook
    `WeightDecay`.

    Args:
        alpha: The rate :math:`\alpha`.
        beta1: Share of the first moment that is kept.
        beta2: Share of the largest gradient that is kept.
        eps: Added to the size of each gradient.
        eta: Factor on the whole change, to be scheduled.
        weight_decay_rate: The decay :math:`\lambda`.

    Source: Kingma and Ba 2015 (arXiv:1412.6980), algorithm 2.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.AdaMax(alpha=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.715])
    """

    rule = AdaMaxRule

    @property
    def lr(self) -> float:
        """The rate of the current step, for who observes it. Set `alpha` to change it."""
        rule: Any = self.create_update_rule()
        rule.t = self.t
        return float(rule.rate if self.t else self.alpha)
