"""Muon: matrices step by their momentum, made orthogonal; all else by AdamW."""

from __future__ import annotations

import math
from typing import Any

from core import FunctionNode, Parameter
from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.adam import corrected_rate
from plugins.optimizers.half import divisor
from plugins.optimizers.moments import average
from plugins.optimizers.parts import check_parts, zeros

_COEFFICIENTS = 3.4445, -4.7750, 2.0315
_SIZE = 0.2  # of the changes that Adam makes


class Orthogonalized(FunctionNode):
    """A matrix whose singular values have been brought to between 0.7 and 1.2.

    Each of some steps takes a polynomial of them.
    """

    steps: int
    wide = True

    def compute(self, xp: Any, x: Any) -> Any:
        """Zeros give zeros."""
        x = x / _unless_0(xp, xp.max(xp.abs(x)))  # so that squares neither overflow nor vanish
        x = x / _unless_0(xp, xp.sqrt(xp.sum(x * x)))
        tall = x.shape[0] > x.shape[1]
        x = x.T if tall else x
        a, b, c = _COEFFICIENTS
        for _ in range(self.steps):
            square = xp.matmul(x, x.T)
            x = a * x + xp.matmul(b * square + c * xp.matmul(square, square), x)
        return x.T if tall else x


def _unless_0(xp: Any, size: Any) -> Any:
    return xp.where(size == 0, xp.ones_like(size), size)


class MuonRule(UpdateRule):
    """The rule of `Muon`: the momentum `m`, and for what is no matrix squares of gradients, `v`."""

    __slots__ = ()

    lr: float = 0.001
    momentum: float = 0.95
    nesterov: bool = True
    ns_steps: int = 5
    weight_decay_rate: float = 0.0
    orthogonal: bool = True
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    ranges = {
        "lr": "[0, inf)",
        "momentum": "[0, 1)",
        "ns_steps": "[1, 100]",
        "weight_decay_rate": "[0, inf)",
        "beta1": "[0, 1)",
        "beta2": "[0, 1)",
        "eps": "[0, inf)",
    }
    state_names = ("m", "v")

    @property
    def alpha(self) -> float:
        """The rate, as Adam calls it."""
        return float(self.lr)

    def _shapes(self, param: Any) -> dict[str, tuple[int, ...]]:
        shape = tuple(param.shape)
        return {"m": shape, "v": (0,) if self.orthogonal and len(shape) > 1 else shape}

    def check(self, param: Parameter) -> None:
        """Refuse state of another shape, or from before `orthogonal` was changed."""
        check_parts(self, param, self._shapes(param))

    def init_state(self, param: Parameter) -> None:
        """Zeros; none in `v` for a matrix."""
        self.state.update(zeros(param, self._shapes(param)))

    def step(self, xp: Any, param: Any, grad: Any, m: Any, v: Any) -> None:
        """One step, in place."""
        if not param.size:
            return
        if v.shape == param.shape:
            average(m, self.beta1, grad)
            average(v, self.beta2, grad * grad)
            size = divisor(self, xp, xp.sqrt(v) + self.eps)
            change = corrected_rate(self, self.t) / size * m
        else:
            average(m, self.momentum, grad)
            ahead = grad + self.momentum * (m - grad) if self.nesterov else m
            rows = xp.reshape(ahead, (param.shape[0], -1))
            change = Orthogonalized(self.ns_steps).evaluate(rows)
            change = xp.reshape(change, param.shape)
            change = self.lr * _SIZE * math.sqrt(max(rows.shape)) * change
        if self.weight_decay_rate:
            change = change + self.lr * self.weight_decay_rate * param
        param -= change


class Muon(GradientMethod):
    r"""Matrices step by their momentum, made orthogonal; all else steps as under `AdamW`.

    .. math::
        M \leftarrow \mu M + (1 - \mu) G, \qquad
        X = \frac{\mu M + (1 - \mu) G}{\|\mu M + (1 - \mu) G\|}

    and then as often as `ns_steps` says, with a = 3.4445, b = -4.775, c = 2.0315,

    .. math:: X \leftarrow a X + b X X^T X + c X X^T X X^T X

    which brings all singular values near 1. For a parameter of m rows and n columns

    .. math:: W \leftarrow W - \eta \left(0.2 \sqrt{\max(m, n)} X + \lambda W\right)

    so that steps are as large as Adam's, whose rate and decay serve: PyTorch's `Muon` with
    ``adjust_lr_fn="match_rms_adamw"``, here in the dtype of the parameter. More axes than two
    count as columns, such as those of convolutions. Embeddings, and the last layer of a
    classifier, train better by Adam: ``optimizer.group("/embed/W", orthogonal=False)``.

    Args:
        lr: The rate :math:`\eta`.
        momentum: Share :math:`\mu` of the momentum that is kept.
        nesterov: Whether X looks ahead, as above; else it begins as M.
        ns_steps: How many steps make a matrix orthogonal.
        weight_decay_rate: The decay :math:`\lambda`, multiplied by the rate as in PyTorch.
        orthogonal: Whether matrices step in this way; settled by the first step.
        beta1: Share of the first moment that is kept, where Adam steps.
        beta2: Share of the second moment that is kept there.
        eps: Added to the root of the second moment there.

    Sources: Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"; the size
    of steps is that of Liu et al. 2025 (arXiv:2502.16982), equation 4.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.W = core.Parameter(np.eye(2))
    >>> optimizer = core.optimizers.Muon(lr=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: core.functions.sum(model.W * model.W))
    >>> model.W.array.round(3)
    array([[0.906, 0.   ],
           [0.   , 0.906]])
    """

    rule = MuonRule
