"""Plain gradient descent."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule


class SGDRule(UpdateRule):
    """The rule of `SGD`."""

    __slots__ = ()

    lr: float = 0.01
    ranges = {"lr": "[0, inf)"}

    def step(self, xp: Any, param: Any, grad: Any) -> None:
        """One step, in place."""
        param -= self.lr * grad


class SGD(GradientMethod):
    r"""Gradient descent with a fixed rate: :math:`\theta \leftarrow \theta - \eta\, g`.

    Args:
        lr: The rate :math:`\eta`.

    Source: Robbins and Monro, Annals of Mathematical Statistics 22 (1951).

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.SGD(lr=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.512])
    """

    rule = SGDRule
