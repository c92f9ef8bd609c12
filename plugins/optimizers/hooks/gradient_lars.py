"""Layer-wise adaptive rate scaling."""

from __future__ import annotations

from core import Parameter
from core.optimizer import Quantity, UpdateRule
from core.typing import AnyArray
from plugins.optimizers.hooks.norms import norm
from plugins.optimizers.hooks.per_parameter import PerParameter


class GradientLARS(PerParameter):
    r"""Scale each parameter's gradient by the ratio of the two norms.

    .. math:: g \leftarrow \frac{\|\theta\|}{\epsilon + \|g\| + \lambda \|\theta\|}
        (g + \lambda \theta)

    A parameter whose own norm is at most :math:`\tau` keeps the factor 1. The trust coefficient of
    the paper is part of the optimizer's rate. It hooks an optimizer, for all parameters, or the
    update rule of one.

    Args:
        threshold: The norm :math:`\tau` above which a parameter's gradient is scaled.
        weight_decay: The decay :math:`\lambda`.
        eps: Keeps the divisor above 0.

    Source: You et al. 2017 (arXiv:1708.03888), equation 6.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([3.0, 4.0]))
    >>> optimizer = core.optimizers.SGD(lr=0.5).setup(model)
    >>> optimizer.add_hook(core.optimizer_hooks.GradientLARS())
    >>> model.x.grad = np.array([0.0, 10.0])
    >>> optimizer.update()
    >>> model.x.array.round(6)
    array([3. , 1.5])
    """

    threshold = Quantity("[0, inf)")
    weight_decay = Quantity("[0, inf)")
    eps = Quantity("[0, inf)")

    def __init__(
        self, threshold: float = 0.01, weight_decay: float = 0.0, eps: float = 1e-9
    ) -> None:
        self.threshold = threshold
        self.weight_decay = weight_decay
        self.eps = eps

    def change(self, rule: UpdateRule, param: Parameter, grad: AnyArray) -> None:
        """Change the gradient of one parameter in place."""
        xp = param.xp
        size, slope = norm(param.array), norm(grad)
        if self.weight_decay:
            param.grad += self.weight_decay * param.array
        ones, divisor = xp.ones_like(size), self.eps + slope + self.weight_decay * size
        above = (size > self.threshold) & (divisor != 0)  # else there is nothing to scale
        rate = xp.where(above, size / xp.where(above, divisor, ones), ones)
        wide = xp.result_type(grad.dtype, param.backend.dtype("float32"))  # 16 bits may not hold it
        scaled = xp.astype(param.grad, wide, copy=False) * xp.astype(rate, wide, copy=False)
        scaled = xp.asarray(scaled)  # NumPy makes scalars where there are no axes
        param.grad = xp.astype(scaled, grad.dtype, copy=False)
