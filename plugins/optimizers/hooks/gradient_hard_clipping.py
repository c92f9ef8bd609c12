"""Gradient clipping element by element."""

from __future__ import annotations

from core import Parameter
from core.optimizer import Quantity, UpdateRule
from core.typing import AnyArray
from plugins.optimizers.hooks.per_parameter import PerParameter


class GradientHardClipping(PerParameter):
    r"""Limits every element of the gradient: :math:`g \leftarrow \min(\max(g, l), u)`.

    It hooks an optimizer, for all parameters, or the update rule of one.

    Args:
        lower_bound: The least value l.
        upper_bound: The largest value u.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.zeros(2))
    >>> optimizer = core.optimizers.SGD(lr=1.0).setup(model)
    >>> optimizer.add_hook(core.optimizer_hooks.GradientHardClipping(-1, 1))
    >>> model.x.grad = np.array([3.0, -0.5])
    >>> optimizer.update()
    >>> model.x.array
    array([-1. ,  0.5])
    """

    lower_bound = Quantity("[-inf, inf]")
    upper_bound = Quantity("[-inf, inf]")

    def __init__(self, lower_bound: float, upper_bound: float) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        if self.lower_bound > self.upper_bound:
            raise ValueError(
                "GradientHardClipping: expected lower_bound <= upper_bound, "
                f"got {lower_bound} and {upper_bound}."
            )

    def change(self, rule: UpdateRule, param: Parameter, grad: AnyArray) -> None:
        """Change the gradient of one parameter in place."""
        clipped = param.xp.clip(grad, self.lower_bound, self.upper_bound)
        param.grad = param.backend.put(grad, ..., clipped)
