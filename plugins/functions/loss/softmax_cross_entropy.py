"""The loss of classification."""

from __future__ import annotations

from typing import Any

from core import (
    Domain,
    FunctionNode,
    Variable,
    as_variable,
    choice,
    integers,
    real,
)
from core.errors import InvalidSetting, InvalidType
from core.errors.kinds import checked
from core.graph.fitting import is_array
from core.typing import AnyArray, Array
from plugins.functions.activation.log_softmax import log_softmax
from plugins.functions.activation.softmax import Softmax
from plugins.functions.array.broadcast import broadcast_to
from plugins.functions.array.cast import cast, halves_widened
from plugins.functions.array.where import where
from plugins.functions.labels import refuse_outside, widened
from plugins.functions.loss.reduction import check_reduce, reduced
from plugins.functions.loss.twice import warn_of_twice
from plugins.functions.math.logarithm import log
from plugins.functions.math.maximum import maximum
from plugins.functions.math.sum import sum
from plugins.functions.refusal import require

LABELS = "Labels are numbers along axis 1 of x; name the one to leave out as ignore_label."


class SoftmaxCrossEntropy(FunctionNode):
    """w (log sum exp(x) - x[t]) over axis 1; the gradient is g w (softmax(x) - onehot(t)).

    w is the weight of the example: that of its class, 0 for the ignored one, divided by the count
    where the mean is taken. Exponentials are not kept: the greatest scores and logarithms of the
    sums beside them suffice, which are of two sizes, and apart so that none is lost for the other.

    Smoothed, 1 - label_smoothing of this and, for each class, label_smoothing / classes of the loss
    that an example of it would have, with the weight of that class.
    """

    normalize: bool = True
    cache_score: bool = True
    class_weight: Any = None
    ignore_label: int = -1
    reduce: str = "mean"
    label_smoothing: float = 0.0

    saved = ("w", "top", "log_total", "spread")
    spread: Any = None
    wide = True
    domain = Domain(
        "(n,c,...),(n,...)->(...b)",
        x=real(-6, 6),
        t=integers(0, "c"),
        settings={
            "normalize": choice(True, False),
            "ignore_label": choice(-1, 0),
            "reduce": choice("mean", "no"),
            "label_smoothing": choice(0.0, 0.1),
        },
        dims={"c": (1, 4), "...": (0, 2)},
    )

    def prepare(self) -> None:
        check_reduce("softmax_cross_entropy", self.reduce)
        check_smoothing(self.label_smoothing)
        if self.class_weight is not None:
            self.class_weight = _checked_weight(self.class_weight)

    def compute(self, xp, x, t):
        counted, label = self.check_values(xp, x, t)
        share = self._shares(xp, x, counted)
        self.w = w = share if self.class_weight is None else share * self._of_class(xp, x, label)
        self.top = top = xp.max(x, axis=1, keepdims=True)
        below = x - top
        total = xp.log(xp.sum(xp.exp(below), axis=1, keepdims=True, dtype=x.dtype))
        self.log_total = total
        # x[t] - top first: both are of one size, so that nothing is lost for huge scores.
        chosen = xp.take_along_axis(x, xp.expand_dims(label, axis=1), axis=1) - top
        # Chosen first, weighted then: an infinite loss times 0 would be NaN.
        loss = xp.where(counted, (total - chosen)[:, 0, ...], xp.zeros_like(w)) * w
        if self.label_smoothing:
            self.spread = share * (self.label_smoothing / max(x.shape[1], 1))
            of_all = xp.sum((total - below) * self._by_class(xp, x), axis=1)
            of_all = xp.where(counted, of_all, xp.zeros_like(w)) * self.spread
            loss = loss * (1.0 - self.label_smoothing) + of_all
        return xp.sum(loss, dtype=x.dtype) if self.reduce == "mean" else loss

    def check_values(self, xp: Any, x: AnyArray, t: Any) -> tuple[Any, Any]:
        """Which labels count, and all of them, with 0 for others; refuses those of no class."""
        t = widened(xp, t)
        counted = t != self.ignore_label
        label = xp.where(counted, t, 0)
        refuse_outside("SoftmaxCrossEntropy", self.backend, "t", label, x.shape[1], LABELS)
        return counted, label

    def _shares(self, xp: Any, x: AnyArray, counted: AnyArray) -> AnyArray:
        """What each example counts, before its class does: 0 for the ignored ones."""
        each = xp.astype(counted, x.dtype)
        if self.reduce == "no":
            return each
        return each / (xp.maximum(xp.sum(each), 1.0) if self.normalize else max(x.shape[0], 1))

    def _of_class(self, xp: Any, x: AnyArray, label: Any) -> AnyArray:
        """The weight of the class of each example."""
        each = xp.reshape(self._by_class(xp, x), (-1,))
        return xp.reshape(xp.take(each, xp.reshape(label, (-1,)), axis=0), label.shape)

    def _by_class(self, xp: Any, x: AnyArray) -> AnyArray:
        """The weights of all classes along axis 1, ones where none are given."""
        classes = x.shape[1], *(1,) * (x.ndim - 2)
        if self.class_weight is None:
            return xp.ones(classes, dtype=x.dtype, device=x.device)
        each = xp.astype(self.class_weight, x.dtype)
        if each.shape[0] != x.shape[1]:
            raise InvalidType(
                "class_weight.shape[0] == x.shape[1]", f"{each.shape[0]} != {x.shape[1]}"
            )
        return xp.reshape(each, classes)

    def gradient_x(self, xp, g, x, t, w, top, log_total, spread):
        t = widened(xp, t)
        classes = xp.arange(x.shape[1], dtype=t.dtype, device=t.device)
        classes = xp.reshape(classes, (-1, *(1,) * (t.ndim - 1)))
        share = xp.exp(x - top - log_total)
        right = xp.astype(classes == xp.expand_dims(t, axis=1), x.dtype)
        if spread is None:
            share -= right
            share *= xp.expand_dims(g * w, axis=1)
        else:
            by_class, kept = self._by_class(xp, x), w * (1.0 - self.label_smoothing)
            share *= xp.expand_dims(g * (kept + spread * xp.sum(by_class)), axis=1)
            right *= xp.expand_dims(g * kept, axis=1)
            share -= right + xp.expand_dims(g * spread, axis=1) * by_class
        # Not by the weight alone: what is ignored may be NaN, as where all of it was masked.
        return xp.where(xp.expand_dims(t, axis=1) == self.ignore_label, 0.0, share)

    def recompute_top(self, xp: Any, x: AnyArray) -> AnyArray:
        return xp.max(x, axis=1, keepdims=True)

    def recompute_log_total(self, xp: Any, x: AnyArray) -> AnyArray:
        top = self.recompute_top(xp, x)
        return xp.log(xp.sum(xp.exp(x - top), axis=1, keepdims=True))


def check_smoothing(value: float) -> None:
    """Refuse what is no part of a label.

    >>> check_smoothing(0.1)
    >>> check_smoothing(10)
    Traceback (most recent call last):
    ValueError: softmax_cross_entropy: expected label_smoothing in [0, 1], got 10
    """
    if not 0 <= value <= 1:
        raise ValueError(
            f"softmax_cross_entropy: expected label_smoothing in [0, 1], got {value!r}"
        )


def _checked_weight(weight: Any) -> Any:
    if not is_array(weight):
        came = type(weight).__name__
        raise InvalidSetting(
            f"softmax_cross_entropy: expected class_weight to be an array, got {came}"
        )
    require("softmax_cross_entropy", ("class_weight.ndim == 1", as_variable(weight).ndim, 1))
    return weight


@checked
def softmax_cross_entropy(
    x: Array,
    t: Array,
    normalize: bool = True,
    cache_score: bool = True,
    class_weight: Array | None = None,
    ignore_label: int = -1,
    reduce: str = "mean",
    enable_double_backprop: bool = False,
    soft_target_loss: str = "cross-entropy",
    *,
    label_smoothing: float = 0.0,
) -> Variable:
    """Compute the cross entropy of labels and the softmax of scores: log(sum_j exp(x_j)) - x_t.

    Right for scores of any size: neither the exponentials nor the logarithm can overflow.

    Args:
        x: Scores, (n, classes, ...), floating.
        t: Labels, (n, ...), integers in [0, classes) or `ignore_label`; or the probabilities of
            the classes, of the shape and dtype of `x`.
        normalize: Whether the mean is over the labels that are not ignored; else it is the sum
            divided by n. For probabilities it is always over all.
        cache_score: Accepted for old scripts; scores are never kept, so there is no choice to make.
        class_weight: None, or an array (classes,) that the losses of each class are multiplied by.
        ignore_label: A label whose examples count for nothing.
        reduce: 'mean', or 'no' for the loss of each example.
        enable_double_backprop: Accepted for old scripts; any order of derivative is available.
        soft_target_loss: For probabilities: 'cross-entropy', or 'kl-divergence', which is 0 for
            scores that give just these.
        label_smoothing: The part of each label, or of the probabilities, that is spread evenly over
            all classes, in [0, 1], as of Szegedy et al. 2016.

    Returns:
        No axes, or the shape of the labels with `reduce='no'`, and the dtype of `x`. 0 where all
        are ignored.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A label is not a class; where devices run ahead, under `core.config.debug`.
        ValueError: A setting is unknown, or `label_smoothing` is not in [0, 1].

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[0, 0], [1000, 0]], "f")
    >>> F.softmax_cross_entropy(x, np.array([0, 1]), reduce="no")
    variable([6.931472e-01, 1.000000e+03], dtype=float32)
    """
    check_reduce("softmax_cross_entropy", reduce)
    warn_of_twice("softmax_cross_entropy", x, Softmax, "softmax")
    t = as_variable(t)
    if t.ndim == as_variable(x).ndim and t.backend.kind(t.dtype) in "fV":
        check_smoothing(label_smoothing)
        if label_smoothing and t.ndim > 1:
            t = t * (1 - label_smoothing) + label_smoothing / max(t.shape[1], 1)
        return _of_probabilities(x, t, class_weight, reduce, soft_target_loss)
    return SoftmaxCrossEntropy.call(
        x, t, normalize, cache_score, class_weight, ignore_label, reduce, label_smoothing
    )


def _of_probabilities(x: Any, t: Any, class_weight: Any, reduce: str, kind: str) -> Variable:
    x, t = as_variable(x), as_variable(t)
    if kind not in ("cross-entropy", "kl-divergence"):
        raise ValueError(
            "softmax_cross_entropy: expected soft_target_loss to be 'cross-entropy' or "
            f"'kl-divergence', got {kind!r}"
        )
    require("softmax_cross_entropy", ("x.shape == t.shape", x.shape, t.shape))
    wide = halves_widened(x, t)
    if wide:
        return cast(_of_probabilities(wide[0], wide[1], class_weight, reduce, kind), x.dtype)
    terms = -log_softmax(x)
    if kind == "kl-divergence":
        # Where t is 0 the term is 0, whatever its logarithm would be.
        terms = terms + log(maximum(t, _tiny(t)))
    if class_weight is not None:
        weight = as_variable(_checked_weight(class_weight))
        weight = cast(weight, x.dtype).reshape((1, -1, *(1,) * (x.ndim - 2)))
        terms = terms * broadcast_to(weight, x.shape)
    # A class that has no probability either way counts for nothing, not for 0 times infinity.
    neither = as_variable((t.array == 0) & (x.array == -float("inf")))
    return reduced(sum(t * where(neither, x.xp.zeros_like(x.array), terms), axis=1), reduce)


def _tiny(x: Variable) -> float:
    return float(x.xp.finfo(x.dtype).smallest_normal)
