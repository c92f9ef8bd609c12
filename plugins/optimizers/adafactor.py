"""Adafactor: Adam's rates from the rows and columns of squared gradients, without momentum."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Parameter
from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.half import divisor
from plugins.optimizers.hooks.norms import squared_norm
from plugins.optimizers.moments import average
from plugins.optimizers.parts import check_parts, zeros


class AdafactorRule(UpdateRule):
    """The rule of `Adafactor`: means of squared gradients, by `row` and `col`umn or of each, `v`.

    Those that a parameter does not need have no elements.
    """

    __slots__ = ()

    lr: float = 0.01
    decay_rate: float = 0.8
    eps1: float = 1e-30
    eps2: float = 0.001
    threshold: float = 1.0
    weight_decay_rate: float = 0.0
    relative_step: bool = True
    scale_parameter: bool = True
    ranges = {
        "lr": "[0, inf)",
        "decay_rate": "[0, inf)",
        "eps1": "[0, inf)",
        "eps2": "[0, inf)",
        "threshold": "(0, inf]",
        "weight_decay_rate": "[0, inf)",
    }
    state_names = ("row", "col", "v")

    def _fit(self, work: Parameter) -> None:
        check_parts(self, work, _shapes(work))
        super()._fit(work)

    def init_state(self, param: Parameter) -> None:
        """Zeros."""
        self.state.update(zeros(param, _shapes(param)))

    def step(self, xp: Any, param: Any, grad: Any, row: Any, col: Any, v: Any) -> None:
        """One step, in place."""
        if not param.size:
            return
        kept, square = 1 - self.t**-self.decay_rate, grad * grad + self.eps1
        if v.shape == param.shape:
            average(v, kept, square)
        else:
            average(row, kept, xp.mean(square, axis=-1, keepdims=True))
            average(col, kept, xp.mean(square, axis=-2, keepdims=True))
            mean = divisor(self, xp, xp.mean(row, axis=-2, keepdims=True), "eps1")
            one = xp.ones_like(mean)  # rows of which some are infinite say nothing
            v = xp.where(mean < xp.inf, row, one) / xp.where(mean < xp.inf, mean, one) * col
        change = xp.asarray(grad / divisor(self, xp, xp.sqrt(v), "eps1"))
        length = _size(xp, change) / self.threshold
        rate = self.rate / xp.maximum(length, xp.ones_like(length))
        if self.scale_parameter:
            size = _size(xp, param)
            rate = rate * xp.maximum(size, xp.full_like(size, self.eps2))
        change = xp.astype(xp.asarray(rate), param.dtype) * change
        if self.weight_decay_rate:
            change = change + self.lr * self.weight_decay_rate * param
        param -= change

    @property
    def rate(self) -> float:
        """The rate of the present step: `lr`, or less where steps are relative."""
        return float(min(self.lr, self.t**-0.5) if self.relative_step else self.lr)


def _size(xp: Any, array: Any) -> Any:
    """The root of the mean square, without axes."""
    return xp.sqrt(squared_norm(array) / prod(array.shape))


def _shapes(param: Any) -> dict[str, tuple[int, ...]]:
    shape = tuple(param.shape)
    if len(shape) < 2:
        return {"row": (0,), "col": (0,), "v": shape}
    return {"row": (*shape[:-1], 1), "col": (*shape[:-2], 1, shape[-1]), "v": (0,)}


class Adafactor(GradientMethod):
    r"""Adam's second moment from one number for each row and column, and steps relative to weights.

    .. math::
        \beta &= 1 - t^{-\gamma}, \qquad
            R \leftarrow \beta R + (1 - \beta) \operatorname{mean}_j (G^2 + \epsilon_1), \qquad
            C \leftarrow \beta C + (1 - \beta) \operatorname{mean}_i (G^2 + \epsilon_1) \\
        V_{ij} &= \frac{R_i C_j}{\operatorname{mean}_i R_i}, \qquad
            U = \frac{G}{\sqrt V}, \qquad
            U \leftarrow \frac{U}{\max(1, \operatorname{rms}(U) / d)} \\
        \theta &\leftarrow \theta - \min(\eta, 1 / \sqrt t)
            \max(\epsilon_2, \operatorname{rms}(\theta))\, U - \eta \lambda \theta

    What it keeps for a matrix is as small as a row and a column; for more axes these are the last
    two, as in PyTorch. Vectors and scalars have a mean square for each element.

    Args:
        lr: The largest rate :math:`\eta`.
        decay_rate: How fast the means begin to last, :math:`\gamma`.
        eps1: Added to squared gradients, :math:`\epsilon_1`. PyTorch has a limit for V instead.
        eps2: The least size :math:`\epsilon_2` of a parameter that steps are relative to.
        threshold: The largest root mean square d of a change, before the rate.
        weight_decay_rate: The decay :math:`\lambda`, multiplied by `lr` as in PyTorch.
        relative_step: Whether the rate falls to :math:`1 / \sqrt t`; else it is `lr`, for a
            schedule.
        scale_parameter: Whether steps are relative to the root mean square of the parameter.

    Source: Shazeer and Stern 2018 (arXiv:1804.04235), algorithms 4 to 6.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.Adafactor(lr=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.74])
    """

    rule = AdafactorRule
