"""Elements weighted by their own sigmoid."""

from __future__ import annotations

from core import Domain, Elementwise, Variable, as_variable, real
from core.typing import Operand
from plugins.functions.activation.sigmoid import Sigmoid, sigmoid
from plugins.functions.derived import function_of
from plugins.functions.math.alongside import alongside


class SiLU(Elementwise):
    """Weight each element by its own sigmoid: x / (1 + exp(-x)).

    With s the sigmoid of x, the derivative is s (1 + x (1 - s)).

    Source: Elfwing et al. 2018 (arXiv:1702.03118).

    >>> import core.functions as F, numpy as np
    >>> F.silu(np.array([-100, 0, 100], "f"))
    variable([ -0.,   0., 100.], dtype=float32)
    """

    wide = True
    domain = Domain(x=real(-6, 6))

    def compute(self, xp, x):
        return x * Sigmoid().evaluate(x)

    def gradient(self, xp, g, x):
        s = Sigmoid().evaluate(x)
        return g * s * (1 + x * (1 - s))


silu = function_of(SiLU, "silu")


def swish(x: Operand, beta: Operand) -> Variable:
    """Weight each element by the sigmoid of its multiple: x / (1 + exp(-beta * x)).

    Args:
        x: Floating, (n, ...).
        beta: Factors to learn, of the dtype of `x` and the shape of its axes from the second on,
            as many of them as `beta` has.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    Source: Ramachandran et al. 2017 (arXiv:1710.05941).

    >>> import core.functions as F, numpy as np
    >>> F.swish(np.array([[100, -100]], "f"), np.array([1, 0], "f"))
    variable([[100., -50.]], dtype=float32)
    """
    x = as_variable(x)
    return x * sigmoid(x * alongside("swish", x, beta, 1, "beta"))
