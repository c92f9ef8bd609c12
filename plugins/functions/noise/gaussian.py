"""Draws from normal distributions, differentiable in their parameters."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, real
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, BackendArray
from plugins.functions.beside import beside


def _eps_fits(f: Any, mean: Any, ln_var: Any) -> None:
    if f.eps is not None and f.eps.shape != mean.shape:
        raise InvalidType(f"eps of the shape {mean.shape}", f"{f.eps.shape}")


class Gaussian(FunctionNode):
    """mean + exp(ln_var / 2) eps, with standard normal eps, drawn unless it is given."""

    eps: Any = None

    saved = ("eps",)
    domain = Domain(
        "(...),(...)->(...)",
        mean=real(-3, 3),
        ln_var=real(-2, 2),
        leave_out={"forward": "random"},
        valid=_eps_fits,
    )

    def compute(self, xp, mean, ln_var):
        if self.eps is None:
            draw = self.backend.random.normal
            device = self.backend.device_of(mean)
            self.eps = draw(mean.shape, mean.dtype, device=device)
        elif self.eps.dtype != mean.dtype:
            self.eps = xp.astype(self.eps, mean.dtype)
        return mean + xp.exp(ln_var / 2) * self.eps

    def gradient_mean(self, xp, g):
        return g

    def gradient_ln_var(self, xp, g, ln_var, eps):
        return g * xp.exp(ln_var / 2) * eps / 2


@checked
def gaussian(
    mean: Array, ln_var: Array, *, eps: Array | None = None, return_eps: bool = False
) -> Variable | tuple[Variable, BackendArray]:
    """Draw from normal distributions so that gradients reach their means and variances.

    y = μ + exp(ln σ² / 2) ε with ε from the standard normal distribution.

    Args:
        mean: Means, floating, of any shape.
        ln_var: Logarithms of the variances, of the same shape and dtype.
        eps: An array like `mean` to take for ε instead of drawing it.
        return_eps: Also give ε, an array.

    Returns:
        The shape and dtype of `mean`, or a pair with `return_eps`.

    Raises:
        InvalidType: Shapes or dtypes do not fit, that of `eps` included.

    Source: Kingma and Welling 2013 (arXiv:1312.6114), section 2.4.

    >>> import core.functions as F, numpy as np
    >>> F.gaussian(np.ones(2, "f"), np.zeros(2, "f"), eps=np.array([0, 2], "f"))
    variable([1., 3.], dtype=float32)
    """
    node = Gaussian(None if eps is None else beside(eps, mean))
    (y,) = node.apply((mean, ln_var))
    return (y, node.eps) if return_eps else y
