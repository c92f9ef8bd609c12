"""Noise on gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from core import Parameter
from core.link.initializer import generate_array
from core.optimizer import Quantity, UpdateRule
from core.typing import AnyArray, DType, Shape
from plugins.initializers.normal import Normal
from plugins.optimizers.hooks.per_parameter import PerParameter


def exponential_decay_noise(xp: Any, shape: Shape, dtype: DType, hook: Any, opt: Any) -> AnyArray:
    r"""Normal noise of the variance :math:`\eta / (1 + t)^{0.55}`, t being the step of `opt`.

    Args:
        xp: The namespace to make the array in.
        shape: The array's shape.
        dtype: The array's dtype.
        hook: What has `eta`.
        opt: An update rule or optimizer, which has `t`.

    Source: Neelakantan et al. 2015 (arXiv:1511.06807), equation 1.

    >>> import core, numpy
    >>> hook = core.optimizer_hooks.GradientNoise(0.3)
    >>> rule = core.UpdateRule()
    >>> exponential_decay_noise(numpy, (2, 3), "float32", hook, rule).shape
    (2, 3)
    """
    deviation = math.sqrt(hook.eta / (1 + opt.t) ** 0.55)
    return generate_array(Normal(deviation), shape, xp, dtype)


class GradientNoise(PerParameter):
    r"""Add noise to the gradients, by default normal noise that decreases over the steps.

    .. math:: g \leftarrow g + \epsilon, \qquad \epsilon \sim N(0, \eta / (1 + t)^{0.55})

    It hooks an optimizer, for all parameters, or the update rule of one.

    Args:
        eta: The scale of the noise.
        noise_func: `noise_func(xp, shape, dtype, hook, rule)`, which gives an array of noise.

    Source: Neelakantan et al. 2015 (arXiv:1511.06807).

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.zeros(2))
    >>> optimizer = core.optimizers.SGD(lr=1.0).setup(model)
    >>> ones = lambda xp, shape, dtype, hook, rule: hook.eta * xp.ones(shape, dtype=dtype)
    >>> optimizer.add_hook(core.optimizer_hooks.GradientNoise(0.5, ones))
    >>> model.x.grad = np.zeros(2)
    >>> optimizer.update()
    >>> model.x.array
    array([-0.5, -0.5])
    """

    eta = Quantity("[0, inf)")

    def __init__(
        self, eta: float, noise_func: Callable[..., Any] = exponential_decay_noise
    ) -> None:
        self.eta = eta
        self.noise_func = noise_func

    def change(self, rule: UpdateRule, param: Parameter, grad: AnyArray) -> None:
        """Change the gradient of one parameter in place."""
        with param.device:
            param.grad += self.noise_func(param.xp, tuple(grad.shape), grad.dtype, self, rule)
