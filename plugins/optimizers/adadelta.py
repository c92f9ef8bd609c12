"""AdaDelta: steps without a learning rate."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.half import divisor
from plugins.optimizers.moments import average


class AdaDeltaRule(UpdateRule):
    """The rule of `AdaDelta`: means `msg` of squared gradients and `msdx` of squared changes."""

    __slots__ = ()

    rho: float = 0.95
    eps: float = 1e-6
    ranges = {"rho": "[0, 1)", "eps": "(0, inf)"}
    state_names = ("msg", "msdx")

    def step(self, xp: Any, param: Any, grad: Any, msg: Any, msdx: Any) -> None:
        """One step, in place."""
        average(msg, self.rho, grad * grad)
        change = xp.sqrt((msdx + self.eps) / divisor(self, xp, msg + self.eps)) * grad
        average(msdx, self.rho, change * change)
        param -= change


class AdaDelta(GradientMethod):
    r"""AdaDelta: the size of a step follows from that of earlier steps.

    .. math::
        a &\leftarrow \rho a + (1 - \rho) g^2 \\
        d &= g \sqrt{(b + \epsilon) / (a + \epsilon)} \\
        b &\leftarrow \rho b + (1 - \rho) d^2 \\
        \theta &\leftarrow \theta - d

    There is no rate: the change d has the unit of the parameter by itself.

    Args:
        rho: Share :math:`\rho` of both means that is kept.
        eps: Added under the roots; the first steps are as small as it makes them.

    Source: Zeiler 2012 (arXiv:1212.5701), algorithm 1.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.AdaDelta(rho=0.5, eps=1e-3).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.85])
    """

    rule = AdaDeltaRule
