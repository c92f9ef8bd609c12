"""The lasso through the gradient."""

from __future__ import annotations

from core import Parameter
from core.optimizer import Quantity, UpdateRule
from core.typing import AnyArray
from plugins.optimizers.hooks.per_parameter import PerParameter


class Lasso(PerParameter):
    r"""Adds :math:`\lambda\, \mathrm{sign}(\theta)`: the loss gains :math:`\lambda \|\theta\|_1`.

    It hooks an optimizer, for all parameters, or the update rule of one.

    Args:
        rate: The weight :math:`\lambda`.

    Source: Tibshirani, Journal of the Royal Statistical Society B 58 (1996).

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([2.0, -2.0]))
    >>> optimizer = core.optimizers.SGD(lr=1.0).setup(model)
    >>> optimizer.add_hook(core.optimizer_hooks.Lasso(0.5))
    >>> model.x.grad = np.zeros(2)
    >>> optimizer.update()
    >>> model.x.array
    array([ 1.5, -1.5])
    """

    rate = Quantity("[0, inf)")

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def change(self, rule: UpdateRule, param: Parameter, grad: AnyArray) -> None:
        """Change the gradient of one parameter in place."""
        param.grad += self.rate * param.xp.sign(param.array)
