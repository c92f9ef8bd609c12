"""Weight decay through the gradient."""

from __future__ import annotations

from core import Parameter
from core.optimizer import Quantity, UpdateRule
from core.typing import AnyArray
from plugins.optimizers.hooks.per_parameter import PerParameter


class WeightDecay(PerParameter):
    r"""Adds :math:`\lambda \theta`: the loss gains :math:`\lambda \|\theta\|^2 / 2`.

    It hooks an optimizer, for all parameters, or the update rule of one. With rules that adapt the
    rate this differs from decoupled decay; see `AdamW` for that.

    Args:
        rate: The decay :math:`\lambda`.

    Source: Krogh and Hertz, NIPS 4 (1991).

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([2.0]))
    >>> optimizer = core.optimizers.SGD(lr=1.0).setup(model)
    >>> optimizer.add_hook(core.optimizer_hooks.WeightDecay(0.25))
    >>> model.x.grad = np.array([0.0])
    >>> optimizer.update()
    >>> model.x.array
    array([1.5])
    """

    rate = Quantity("[0, inf)")

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def change(self, rule: UpdateRule, param: Parameter, grad: AnyArray) -> None:
        """Change the gradient of one parameter in place."""
        param.grad += self.rate * param.array
