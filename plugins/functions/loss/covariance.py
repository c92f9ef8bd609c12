"""Losses that make features uncorrelated."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, choice, real
from core.typing import AnyArray
from plugins.functions.derived import function_of
from plugins.functions.loss.reduction import check_reduce

REDUCTIONS = ("half_squared_sum", "no")


def _centered(xp: Any, x: Any) -> Any:
    return x - xp.sum(x, axis=0, keepdims=True) / max(x.shape[0], 1)


class CrossCovariance(FunctionNode):
    """Measure the covariance of the features of `y` and `z`: ½ Σᵢⱼ (1/n Σₙ (yᵢ - ȳᵢ)(zⱼ - z̄ⱼ))².

    C = Y^T Z / n of centered Y and Z, or half the sum of its squares. With G the gradient of C the
    derivatives are Z G^T / n and Y G / n, of the centered ones.

    Args:
        y: Features, (n, k), floating.
        z: Other features of the same examples, (n, m), of the dtype of `y`.
        reduce: 'half_squared_sum', or 'no' for the cross-covariance matrix itself.

    Returns:
        No axes, or (k, m) with `reduce='no'`, and the dtype of `y`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    Source: Cheung, Livezey, Bansal and Olshausen 2014 (arXiv:1412.6583), equation 6.

    >>> import core.functions as F, numpy as np
    >>> y = np.array([[1], [-1]], "f")
    >>> F.cross_covariance(y, 2 * y)
    variable(2., dtype=float32)
    """

    reduce: str = "half_squared_sum"

    wide = True
    domain = Domain(
        "(n,k),(n,m)->(...b)",
        y=real(-2, 2),
        z=real(-2, 2),
        settings={"reduce": choice(*REDUCTIONS)},
        dims={"n": (1, 4)},
    )

    def prepare(self) -> None:
        check_reduce("cross_covariance", self.reduce, REDUCTIONS)

    def compute(self, xp, y, z):
        covariance = xp.matmul(_centered(xp, y).T, _centered(xp, z)) / max(y.shape[0], 1)
        return covariance if self.reduce == "no" else 0.5 * xp.sum(covariance * covariance)

    def gradient(self, xp, g, y, z):
        n = max(y.shape[0], 1)
        y, z = _centered(xp, y), _centered(xp, z)
        if self.reduce != "no":
            g = g * (xp.matmul(y.T, z) / n)
        return xp.matmul(z, g.T) / n, xp.matmul(y, g) / n


class DeCov(FunctionNode):
    """Measure how much features vary together: half the sum of their squared covariances.

    C = H^T H / n of centered H, or half the sum of its squares. With G the gradient of C, its
    diagonal zero, the derivative is H (G + G^T) / n.

    Variances do not count: the diagonal of the covariance matrix is set to zero.

    Args:
        h: Features, (n, k), floating.
        reduce: 'half_squared_sum', or 'no' for the matrix of covariances.

    Returns:
        No axes, or (k, k) with `reduce='no'`, and the dtype of `h`.

    Raises:
        InvalidType: `h` is not a floating matrix.
        ValueError: `reduce` is unknown.

    Source: Cogswell, Ahmed, Girshick, Zitnick and Batra 2015 (arXiv:1511.06068), equation 2.

    >>> import core.functions as F, numpy as np
    >>> F.decov(np.array([[1, 2], [-1, -2]], "f"), reduce="no")
    variable([[0., 2.],
              [2., 0.]], dtype=float32)
    """

    reduce: str = "half_squared_sum"

    wide = True
    domain = Domain(
        "(n,k)->(...b)", h=real(-2, 2), settings={"reduce": choice(*REDUCTIONS)}, dims={"n": (1, 4)}
    )

    def prepare(self) -> None:
        check_reduce("decov", self.reduce, REDUCTIONS)

    def compute(self, xp, h):
        covariance = self._off_diagonal(xp, _centered(xp, h))
        return covariance if self.reduce == "no" else 0.5 * xp.sum(covariance * covariance)

    def _off_diagonal(self, xp: Any, h: AnyArray) -> AnyArray:
        return xp.where(self._others(xp, h), xp.matmul(h.T, h) / max(h.shape[0], 1), 0.0)

    def _others(self, xp: Any, h: AnyArray) -> AnyArray:
        features = xp.arange(h.shape[1], device=h.device)
        return features[:, None] != features

    def gradient(self, xp, g, h):
        h = _centered(xp, h)
        if self.reduce == "no":
            g = xp.where(self._others(xp, h), g, 0.0)
        else:
            g = g * self._off_diagonal(xp, h)
        return xp.matmul(h, g + g.T) / max(h.shape[0], 1)


cross_covariance = function_of(CrossCovariance, "cross_covariance")


decov = function_of(DeCov, "decov")
