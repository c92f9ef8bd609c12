"""The loss of binary classification."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, choice, integers, real
from core.arrays import backend
from core.errors.kinds import checked
from core.typing import AnyArray, Array
from plugins.functions.activation.sigmoid import Sigmoid
from plugins.functions.array.cast import arrays_in, cast, halves_widened
from plugins.functions.labels import refuse_outside, widened
from plugins.functions.loss.reduction import check_reduce, reduced
from plugins.functions.loss.twice import warn_of_twice
from plugins.functions.loss.vae import BernoulliNLL
from plugins.functions.math.sum import sum
from plugins.functions.refusal import dtype_name, require

LABELS = (
    "-1 is for what counts for nothing. Labels of several classes are for softmax_cross_entropy, "
    "or for one_hot."
)


class SigmoidCrossEntropy(FunctionNode):
    """w log(1 + exp(x)), of -x for the label 1; the gradient is g w (sigmoid(x) - t).

    w is 0 for the label -1, otherwise 1, divided by the count where the mean is taken.
    """

    normalize: bool = True
    reduce: str = "mean"

    wide = True
    domain = Domain(
        "(...),(...)->(...b)",
        x=real(-8, 8),
        t=integers(-1, 2),
        settings={"normalize": choice(True, False), "reduce": choice("mean", "no")},
    )

    def prepare(self) -> None:
        check_reduce("sigmoid_cross_entropy", self.reduce)

    def compute(self, xp, x, t):
        t, ignored = self.check_values(xp, x, t)
        against = xp.where(t == 1, -x, x)  # no product with the label: 0 times infinity is NaN
        loss = xp.maximum(against, 0.0) + xp.log1p(xp.exp(-xp.abs(x)))
        loss = xp.where(ignored, 0.0, loss)
        if self.reduce == "no":
            return loss
        return xp.sum(loss, dtype=x.dtype) / self._count(xp, t, x.dtype)

    def check_values(self, xp: Any, x: AnyArray, t: Any) -> tuple[Any, Any]:
        """The labels, and which are to be ignored; refuses those that are none."""
        t = widened(xp, t)
        ignored = t == -1
        given = xp.where(ignored, 0, t)
        refuse_outside("SigmoidCrossEntropy", self.backend, "t", given, 2, LABELS)
        return t, ignored

    def _count(self, xp: Any, t: AnyArray, dtype: Any) -> AnyArray:
        """What the sum is divided by: the labels that are not -1, or the examples."""
        if not self.normalize:
            return t.shape[0] if t.ndim and t.shape[0] else 1
        count = xp.sum(xp.astype(t != -1, dtype))
        return xp.maximum(count, 1.0)

    def gradient_x(self, xp, g, x, t):
        error = Sigmoid().evaluate(x) - xp.astype(t, x.dtype)
        if self.reduce == "mean":
            g = g / self._count(xp, t, x.dtype)
        return xp.where(t == -1, 0.0, g * error)


@checked
def sigmoid_cross_entropy(
    x: Array, t: Array, normalize: bool = True, reduce: str = "mean"
) -> Variable:
    """Compute the cross entropy of labels and the sigmoid of scores: log(1 + exp(x)) - x * t.

    Right for scores of any size: nothing can overflow.

    Args:
        x: Scores, floating, of any shape.
        t: Integers of the shape of `x`: 0 and 1, or -1 for what counts for nothing; or
            probabilities, of the shape and dtype of `x`, as of labels that are smoothed or mixed.
        normalize: Whether the mean is over the labels that are not -1, of probabilities over all;
            else it is the sum divided by the length of the first axis.
        reduce: 'mean', or 'no' for the loss of each element.

    Returns:
        No axes, or the shape of `x` with `reduce='no'`, and its dtype. 0 where all labels are -1.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A label is another number; where devices run ahead, under `core.config.debug`.
        ValueError: `reduce` is unknown.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([0, -1000], "f")
    >>> F.sigmoid_cross_entropy(x, np.array([1, 1]), reduce="no")
    variable([6.931472e-01, 1.000000e+03], dtype=float32)
    >>> F.sigmoid_cross_entropy(x, np.array([1, 0.1], "f"), reduce="no")
    variable([  0.6931472, 100.       ], dtype=float32)
    """
    check_reduce("sigmoid_cross_entropy", reduce)
    warn_of_twice("sigmoid_cross_entropy", x, Sigmoid, "sigmoid")
    if any([backend.of(a).kind(a.dtype) in "fV" for a in arrays_in((t,))]):
        return _of_probabilities(x, t, normalize, reduce)
    return SigmoidCrossEntropy.call(x, t, normalize, reduce)


def _of_probabilities(x: Any, t: Any, normalize: bool, reduce: str) -> Variable:
    x, t = as_variable(x), as_variable(t)
    require(
        "sigmoid_cross_entropy",
        ("x.dtype == t.dtype", dtype_name(x), dtype_name(t)),
        ("x.shape == t.shape", x.shape, t.shape),
    )
    wide = halves_widened(x, t) if reduce == "mean" else None
    if wide:
        return cast(_of_probabilities(wide[0], wide[1], normalize, reduce), x.dtype)
    loss = BernoulliNLL.call(t, x)
    if reduce == "mean" and not normalize and x.ndim:
        return sum(loss) / max(len(x), 1)
    return reduced(loss, reduce)
