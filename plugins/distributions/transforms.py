"""Functions of one number that have an inverse, to make distributions of others."""

from __future__ import annotations

from math import inf, log

from core import Variable
from core import functions as F
from core.typing import AnyArray, Operand
from plugins.distributions.distribution import floating, plain


class Transform:
    """Base of increasing functions of one number, applied to each element of a point.

    A subclass gives the function and its inverse, the logarithm of its slope, and where its values
    lie. `low` and `high` are the ends of that open interval, and `inner` is a point in it.

    >>> import core.distributions as D, core.functions as F, numpy as np
    >>> class Cube(D.Transform):
    ...     def forward(self, x):
    ...         return x * x * x
    ...     def inverse(self, y):
    ...         return F.sign(y) * F.absolute(y) ** (1 / 3)
    ...     def log_slope(self, x):
    ...         return F.log(3 * x * x)
    >>> d = D.TransformedDistribution(D.Normal(np.zeros(1), 1.0), Cube())
    >>> d.cdf(np.array([8.0])).array.round(3)
    array([0.977])
    """

    low, high, inner = -inf, inf, 0.5
    support: str | None = None
    """Where its values lie, in a word or two; None where these lie as the points do."""

    def forward(self, x: Variable) -> Variable:
        """The value at `x`."""
        raise NotImplementedError(f"{type(self).__name__} has no forward.")

    def inverse(self, y: Variable) -> Variable:
        """The point whose value is `y`, in (low, high)."""
        raise NotImplementedError(f"{type(self).__name__} has no inverse.")

    def log_slope(self, x: Variable) -> Variable:
        """The logarithm of the size of the derivative at `x`; its shape broadcasts to that."""
        raise NotImplementedError(f"{type(self).__name__} has no log_slope.")

    def decreases(self) -> bool | AnyArray:
        """Whether it decreases: False, or an array of that."""
        return False

    @property
    def params(self) -> dict[str, Variable]:
        """Its parameters by name."""
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class AffineTransform(Transform):
    """The function loc + scale x.

    Args:
        loc: Numbers.
        scale: Numbers other than 0; where they are negative, the function decreases.

    >>> import core.distributions as D, numpy as np
    >>> d = D.TransformedDistribution(D.Beta(np.full(2, 2.0), 2.0), D.AffineTransform(-1.0, 2.0))
    >>> d.cdf(np.array([0.0, 1.0]))
    variable([0.5, 1. ])
    """

    def __init__(self, loc: Operand, scale: Operand) -> None:
        given = [plain(loc), plain(scale)]
        arrays = iter(floating(*[x for x in given if not isinstance(x, (int, float))]))
        self.loc, self.scale = [x if isinstance(x, (int, float)) else next(arrays) for x in given]

    def forward(self, x: Variable) -> Variable:
        """The value at `x`."""
        return x * self.scale + self.loc

    def inverse(self, y: Variable) -> Variable:
        """The point whose value is `y`."""
        return (y - self.loc) / self.scale

    def log_slope(self, x: Variable) -> Variable:
        """The logarithm of the size of scale."""
        if isinstance(self.scale, (int, float)):
            size = log(abs(self.scale)) if self.scale else -inf
            return F.broadcast_to(x.backend.asarray(size, x.dtype, x.device), x.shape)
        return F.log(F.absolute(self.scale))

    def decreases(self) -> bool | AnyArray:
        """Where scale is negative."""
        return getattr(self.scale, "array", self.scale) < 0

    @property
    def params(self) -> dict[str, Variable]:
        """Those of loc and scale that are arrays."""
        known = {"loc": self.loc, "scale": self.scale}
        return {name: x for name, x in known.items() if isinstance(x, Variable)}


class ExpTransform(Transform):
    """The function exp(x), whose values are positive.

    >>> import core.distributions as D, numpy as np
    >>> d = D.TransformedDistribution(D.Normal(np.zeros(2), 1.0), D.ExpTransform())
    >>> d.prob(np.array([-1.0, 1.0]))
    variable([0.        , 0.39894228])
    """

    low, inner = 0.0, 1.0
    support = "positive"

    def forward(self, x: Variable) -> Variable:
        """The value at `x`."""
        return F.exp(x)

    def inverse(self, y: Variable) -> Variable:
        """The logarithm."""
        return F.log(y)

    def log_slope(self, x: Variable) -> Variable:
        """The point itself."""
        return x


class SigmoidTransform(Transform):
    """The function 1 / (1 + exp(-x)), whose values lie in (0, 1).

    >>> import core.distributions as D, numpy as np
    >>> d = D.TransformedDistribution(D.Logistic(np.zeros(1), 1.0), D.SigmoidTransform())
    >>> d.prob(np.array([[0.1], [0.7]]))  # it is uniform
    variable([[1.],
              [1.]])
    """

    low, high = 0.0, 1.0
    support = "(0, 1)"

    def forward(self, x: Variable) -> Variable:
        """The value at `x`."""
        return F.sigmoid(x)

    def inverse(self, y: Variable) -> Variable:
        """The logit."""
        return F.log(y) - F.log1p(-y)

    def log_slope(self, x: Variable) -> Variable:
        """The logarithm of y (1 - y)."""
        return -F.softplus(x) - F.softplus(-x)


class TanhTransform(Transform):
    """The hyperbolic tangent, whose values lie in (-1, 1): as of actions that have bounds.

    >>> import core.distributions as D, numpy as np
    >>> d = D.TransformedDistribution(D.Normal(np.zeros(1), 1.0), D.TanhTransform())
    >>> d.log_prob(np.array([[0.0], [2.0]]))
    variable([[-0.91893853],
              [       -inf]])
    """

    low, high = -1.0, 1.0
    support = "(-1, 1)"

    def forward(self, x: Variable) -> Variable:
        """The value at `x`."""
        return F.tanh(x)

    def inverse(self, y: Variable) -> Variable:
        """The area hyperbolic tangent."""
        return 0.5 * (F.log1p(y) - F.log1p(-y))

    def log_slope(self, x: Variable) -> Variable:
        """The logarithm of 1 - y², also where y rounds to 1."""
        return 2 * (log(2) - x - F.softplus(-2 * x))
