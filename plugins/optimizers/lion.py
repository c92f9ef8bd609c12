"""Lion: steps by the sign of an interpolated momentum."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule


class LionRule(UpdateRule):
    """The rule of `Lion`: the momentum `m`."""

    __slots__ = ()

    lr: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.99
    weight_decay_rate: float = 0.0
    ranges = {
        "lr": "[0, inf)",
        "beta1": "[0, 1]",
        "beta2": "[0, 1]",
        "weight_decay_rate": "[0, inf)",
    }
    state_names = ("m",)

    def step(self, xp: Any, param: Any, grad: Any, m: Any) -> None:
        """One step, in place."""
        change = xp.sign(m + (1 - self.beta1) * (grad - m))
        if self.weight_decay_rate:
            change = change + self.weight_decay_rate * param
        param -= self.lr * change
        m += (1 - self.beta2) * (grad - m)


class Lion(GradientMethod):
    r"""Steps of one size for all elements, by the sign of an interpolated momentum.

    .. math::
        \theta &\leftarrow \theta - \eta \left(
            \mathrm{sign}(\beta_1 m + (1 - \beta_1) g) + \lambda \theta\right) \\
        m &\leftarrow \beta_2 m + (1 - \beta_2) g

    It keeps half of what Adam keeps, and wants a rate 3 to 10 times smaller, with a decay as many
    times larger: the decay :math:`\lambda` is multiplied by the rate, as in the paper, which that
    of `AdamW` is not.

    Args:
        lr: The rate :math:`\eta`.
        beta1: Share :math:`\beta_1` of the momentum in what gives the sign.
        beta2: Share :math:`\beta_2` of the momentum that is kept.
        weight_decay_rate: The decay :math:`\lambda`.

    Source: Chen et al. 2023 (arXiv:2302.06675), algorithm 2.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.Lion(lr=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.7])
    """

    rule = LionRule
