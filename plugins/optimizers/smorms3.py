"""SMORMS3: squared mean over root mean squared cubed."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.half import divisor
from plugins.optimizers.moments import average


class SMORMS3Rule(UpdateRule):
    """The rule of `SMORMS3`: memory `mem`, means `g` of gradients and `g2` of their squares."""

    __slots__ = ()

    lr: float = 0.001
    eps: float = 1e-16
    ranges = {"lr": "[0, inf)", "eps": "[0, inf)"}
    state_names = {"mem": 1.0, "g": 0.0, "g2": 0.0}

    def step(self, xp: Any, param: Any, grad: Any, mem: Any, g: Any, g2: Any) -> None:
        """One step, in place."""
        share = 1 / (mem + 1)
        average(g, 1 - share, grad)
        average(g2, 1 - share, grad * grad)
        ratio = g / divisor(self, xp, xp.sqrt(g2 + self.eps))  # squares alone would overflow
        certainty = ratio * ratio
        size = divisor(self, xp, xp.sqrt(g2) + self.eps)
        param -= xp.clip(certainty, None, self.lr) * grad / size
        mem *= 1 - certainty
        mem += 1


class SMORMS3(GradientMethod):
    r"""Steps that are larger the more certain the gradient is, limited by a rate.

    .. math::
        r &= 1 / (m + 1) \\
        \bar g &\leftarrow (1 - r) \bar g + r g \\
        s &\leftarrow (1 - r) s + r g^2 \\
        x &= \bar g^2 / (s + \epsilon) \\
        \theta &\leftarrow \theta - \frac{\min(x, \eta)}{\sqrt s + \epsilon} g \\
        m &\leftarrow 1 + m (1 - x)

    The memory m, 1 at first, grows while gradients contradict each other.

    Args:
        lr: The largest rate :math:`\eta`.
        eps: Added to what is divided by.

    Source: Funk, "RMSprop loses to SMORMS3: beware the epsilon!" (2015).

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.SMORMS3(lr=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.649])
    """

    rule = SMORMS3Rule
