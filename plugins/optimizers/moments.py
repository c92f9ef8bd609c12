"""The common parts of Adam and similar optimizers: settings, two moments, and the change."""

from __future__ import annotations

from typing import Any, ClassVar

from core.optimizer import UpdateRule


def average(mean: Any, kept: float, value: Any) -> None:
    """Bring a running mean on in place: to kept * mean + (1 - kept) * value.

    Not by their difference, which has the rounding of a mean much larger than what comes, and is
    NaN for ever once the mean is infinite: a square that overflows would ruin the parameter.
    """
    mean *= kept
    mean += (1 - kept) * value


class MomentsRule(UpdateRule):
    """Base of rules with the moments `m`, of gradients, and `v`, of their squares."""

    __slots__ = ()

    alpha: float = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    eta: float = 1.0
    weight_decay_rate: float = 0.0
    ranges = {
        "alpha": "[0, inf)",
        "beta1": "[0, 1)",
        "beta2": "[0, 1)",
        "eps": "[0, inf)",
        "eta": "[0, inf)",
        "weight_decay_rate": "[0, inf)",
    }
    state_names: ClassVar[tuple[str, ...]] = ("m", "v")

    def _average(self, grad: Any, m: Any, v: Any) -> None:
        average(m, self.beta1, grad)
        average(v, self.beta2, grad * grad)

    def _move(self, param: Any, change: Any) -> None:
        if self.weight_decay_rate:
            change = change + self.weight_decay_rate * param
        param -= self.eta * change
