"""The share of variance that predictions explain."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, choice, real
from core.errors.kinds import checked
from core.typing import AnyArray, Array, Shape

OUTPUTS = ("uniform_average", "raw_values")


def _spread(xp: Any, values: Any) -> Any:
    """Values that differ along the first axis."""
    return values + xp.reshape(3.0 * xp.arange(len(values)), (-1,) + (1,) * (values.ndim - 1))


class R2Score(FunctionNode):
    """1 - r / v with r = sum w (pred - true)^2 and v = sum w (true - mean)^2; 0 where v is.

    The derivative along pred is -2 w (pred - true) / v; that along true is the negative of it, and
    2 w (true - mean) r / v^2.
    """

    multioutput: str = "uniform_average"

    wide = True
    domain = Domain(
        "(n,...),(n,...),(n)?->(...b)",
        pred=real(-3, 3),
        true=real(-1, 1, make=_spread),
        sample_weight=real(0.5, 2),
        settings={"multioutput": choice(*OUTPUTS)},
        dims={"n": (2, 4)},
        leave_out={"gradient_sample_weight": "not differentiable"},
    )

    def prepare(self) -> None:
        if self.multioutput not in OUTPUTS:
            raise ValueError(
                "r2_score: expected multioutput to be 'uniform_average' or 'raw_values', "
                f"got {self.multioutput!r}"
            )

    def compute(self, xp, pred, true, sample_weight=None):
        w = self._weights(xp, true, sample_weight)
        error, away = pred - true, self._away(xp, true, w)
        variance = xp.sum(w * away * away, axis=0)
        ratio = xp.sum(w * error * error, axis=0) / xp.where(variance == 0, 1.0, variance)
        score = xp.where(variance == 0, 0.0, 1 - ratio)
        if self.multioutput == "raw_values":
            return score
        return xp.sum(score) / max(prod(score.shape), 1)

    def _weights(self, xp: Any, true: AnyArray, given: AnyArray) -> AnyArray:
        given = xp.ones_like(true) if given is None else given
        return xp.reshape(given, given.shape + (1,) * (true.ndim - given.ndim))

    def _away(self, xp: Any, true: AnyArray, w: AnyArray) -> AnyArray:
        """What differs from the mean; just 0 where all are the same, as the mean may be rounded."""
        moved = true - true[:1, ...]
        total = xp.sum(w, axis=0)
        return moved - xp.sum(w * moved, axis=0) / xp.where(total == 0, 1.0, total)

    def gradient_pred(self, xp, g, pred, true, sample_weight):
        w = self._weights(xp, true, sample_weight)
        away = self._away(xp, true, w)
        share, _ = self._shares(xp, g, w * away * away, true.shape)
        return -2.0 * share * w * (pred - true)

    def gradient_true(self, xp, g, pred, true, sample_weight):
        w = self._weights(xp, true, sample_weight)
        error, away = pred - true, self._away(xp, true, w)
        share, variance = self._shares(xp, g, w * away * away, true.shape)
        ratio = xp.sum(w * error * error, axis=0) / variance
        return 2.0 * share * w * (error + ratio * away)

    def _shares(
        self, xp: Any, g: AnyArray, squares: AnyArray, shape: Shape
    ) -> tuple[AnyArray, AnyArray]:
        """What the gradient is divided by, and it divided; 0 where nothing varies."""
        variance = xp.sum(squares, axis=0)
        nothing = variance == 0
        variance = xp.where(nothing, 1.0, variance)
        if self.multioutput == "uniform_average":
            g = g / max(prod(shape[1:]), 1)
        return xp.where(nothing, 0.0, g / variance), variance


@checked
def r2_score(
    pred: Array,
    true: Array,
    sample_weight: Array | None = None,
    multioutput: str = "uniform_average",
) -> Variable:
    """Compute the coefficient of determination: 1 - Σ (pred - true)² / Σ (true - mean)².

    1 for right predictions, 0 for those as good as the mean; 0 as well where all true values are
    the same. Unlike most measures it has a gradient.

    Args:
        pred: Predictions, (n, ...), floating.
        true: What they should be, of the shape and dtype of `pred`.
        sample_weight: None, or the weights of the examples, (n,), of the dtype of `pred`; these are
            constants.
        multioutput: 'uniform_average' for the mean of the scores of all columns, or 'raw_values'
            for each.

    Returns:
        No axes, or (...) with `multioutput='raw_values'`, and the dtype of `pred`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `multioutput` is unknown.

    >>> import core.functions as F, numpy as np
    >>> F.r2_score(np.array([1, 2, 2], "f"), np.array([1, 2, 3], "f"))
    variable(0.5, dtype=float32)
    """
    if sample_weight is None:
        return R2Score.call(pred, true, multioutput=multioutput)
    return R2Score.call(pred, true, sample_weight, multioutput=multioutput)
