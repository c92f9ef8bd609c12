"""Gradient clipping by the norm of all gradients together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from core import Optimizer, Parameter
from core.arrays.backend import host, of
from core.errors import HookError
from core.errors.known_attributes import KnownAttributes
from core.errors.set_by_init import NeedsInit
from core.graph.fitting import is_array
from core.optimizer import ParameterGroup, Quantity
from core.typing import AnyArray
from plugins.optimizers.hooks.norms import joint_norm, squared_norms, wide_squared_norm


class GradientClipping(KnownAttributes, NeedsInit):
    r"""Scale all gradients down together if their joint norm exceeds a threshold.

    .. math:: g \leftarrow g \cdot \min(1, c / \|g\|_2)

    The norm is that of all gradients of the step, so this hooks an optimizer, or a group of its
    parameters: `optimizer.group("/head/*").add_hook(GradientClipping(1.0))`. Squares that their
    dtype does not hold are added in float64. A norm that is not finite leaves the gradients
    as they are. On a GPU it stays there: nobody waits for it.

    Args:
        threshold: The largest norm c.

    Source: Pascanu et al. 2013 (arXiv:1211.5063), algorithm 1.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.zeros(2))
    >>> optimizer = core.optimizers.SGD(lr=1.0).setup(model)
    >>> optimizer.add_hook(core.optimizer_hooks.GradientClipping(1.0))
    >>> model.x.grad = np.array([3.0, 4.0])
    >>> optimizer.update()
    >>> model.x.array
    array([-0.6, -0.8])
    """

    name: str = "GradientClipping"
    call_for_each_param: bool = False
    works_on_parts: bool = True
    timing: str = "pre"

    threshold = Quantity("(0, inf]")

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self._group: ParameterGroup | None = None
        self._joining = False

    def for_group(self, group: ParameterGroup | None) -> None:
        """Look at the parameters of a group, which adds the hook now; None for all of them."""
        if group is not None:
            self.added()
        self._group, self._joining = group, group is not None

    def added(self, optimizer: Optimizer | None = None) -> None:
        """Refuse another place, if this is the hook of a group."""
        if self._group is not None and not self._joining:
            raise HookError("GradientClipping: it is the hook of a group already. Make another.")
        self._joining = False

    def __call__(self, opt: Optimizer) -> None:
        """Scale the gradients of the step in place."""
        group = self._group
        params = [param for rule, param in opt.working() if group is None or rule in group]
        beside = all([param.backend is host() for param in params])
        with host().overflowing():
            # In the wide dtype at once where to look, whether it is needed, would be to wait.
            norm = _norm(opt, params, squared_norms if beside else _wide)
            if beside and norm == math.inf:
                norm = _norm(opt, params, _wide)
        if is_array(norm):
            self._scale_on_device(params, norm)
        elif self.threshold < norm < math.inf:
            for param in params:
                param.grad *= self.threshold / norm

    def _scale_on_device(self, params: list[Parameter], norm: AnyArray) -> None:
        """Clip by a rate that the host never sees; it is 1 where nothing is to be clipped."""
        home = of(norm)
        xp = home.xp
        with home.beside(norm):
            ones = xp.ones_like(norm)
            above = (norm > self.threshold) & (norm < math.inf)
            rate = xp.where(above, self.threshold / xp.where(above, norm, ones), ones)
        for param in params:
            with param.backend.beside(param.grad):
                param.grad *= param.xp.astype(param.device.send(rate), param.dtype, copy=False)


def _norm(opt: Optimizer, params: list[Parameter], squares: Callable[[Any], list[Any]]) -> Any:
    return joint_norm(opt.everywhere(squares([param.grad for param in params])))


def _wide(gradients: list[AnyArray]) -> list[Any]:
    return [wide_squared_norm(grad) for grad in gradients]
