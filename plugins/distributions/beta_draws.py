"""Draws from beta distributions, differentiable in both parameters."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real
from plugins.distributions.gamma_draws import log_standard_gamma, rounded
from plugins.distributions.incomplete import beta_rate


class StandardBeta(FunctionNode):
    """A draw from the beta distribution of a and b, for each element: of two gamma draws, a share.

    Its derivatives are those of a draw at a fixed cumulative probability.

    Source: Figurnov, Mohamed and Mnih 2018 (arXiv:1805.08498), section 3.
    """

    domain = Domain(
        "(...),(...)->(...)",
        a=real(0.5, 5),
        b=real(0.5, 5),
        leave_out={
            "forward": "random",
            "double_gradient": "not differentiable",
            "traced": "depends on values",
        },
    )

    def compute(self, xp: Any, a: Any, b: Any) -> Any:
        random, device = self.backend.random, self.backend.device_of(a)
        one, other = (log_standard_gamma(random, xp, k, device) for k in (a, b))
        less = xp.exp(-xp.abs(one - other))  # shares by logarithms, for both may be below numbers
        return rounded(xp, xp.where(one < other, less, 1.0) / (1.0 + less), a.dtype)

    def gradient_a(self, xp: Any, g: Any, a: Any, b: Any, out: Any) -> Any:
        return g * beta_rate(xp, a, b, out)

    def gradient_b(self, xp: Any, g: Any, a: Any, b: Any, out: Any) -> Any:
        return g * beta_rate(xp, a, b, out, in_b=True)
