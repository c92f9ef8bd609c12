"""Gradient clipping element by element, by one number."""

from __future__ import annotations

from core import Parameter
from core.optimizer import Quantity, UpdateRule
from core.typing import AnyArray
from plugins.optimizers.hooks.per_parameter import PerParameter


class GradientValueClipping(PerParameter):
    r"""Limits every element of the gradient: :math:`g \leftarrow \min(\max(g, -c), c)`.

    What PyTorch calls `clip_grad_value_`, and Keras `clipvalue`; `GradientHardClipping` takes two
    bounds. It hooks an optimizer, for all parameters, or the update rule of one.

    Args:
        threshold: The largest absolute value c, 0 or more.

    Source: Mikolov 2012 (thesis, Brno), as described by Goodfellow et al. 2016, "Deep Learning",
    section 10.11.1.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.zeros(2))
    >>> optimizer = core.optimizers.SGD(lr=1.0).setup(model)
    >>> optimizer.add_hook(core.optimizer_hooks.GradientValueClipping(1))
    >>> model.x.grad = np.array([3.0, -0.5])
    >>> optimizer.update()
    >>> model.x.array
    array([-1. ,  0.5])
    """

    threshold = Quantity("[0, inf]")

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def change(self, rule: UpdateRule, param: Parameter, grad: AnyArray) -> None:
        """Change the gradient of one parameter in place."""
        clipped = param.xp.clip(grad, -self.threshold, self.threshold)
        param.grad = param.backend.put(grad, ..., clipped)
